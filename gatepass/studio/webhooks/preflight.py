"""A check of the URL in a form, before it is saved. Rate limited: each check makes this server call another one."""

import time
from typing import Final

from gatepass.domain.limits import Policy
from gatepass.domain.webhooks.preflight import Preflight
from gatepass.domain.webhooks.preflight import preflight as read_image
from gatepass.studio.web.context import Context
from gatepass.studio.web.forms import Form

# For one person: ten at once, then one every six seconds.
LOOKS: Final = Policy("preflight", 10 / 60, 10)


async def look(context: Context, form: Form) -> Preflight | None:
    """The outcome of each step; None if the form has an error. No transaction is open meanwhile."""
    url = form.value("url").strip()
    if not url:
        form.errors["url"] = "This is needed."
        return None
    standing = context.studio.looks.take(context.session.person_id, LOOKS, time.monotonic())
    if not standing.allowed:
        form.errors["url"] = f"These are many checks. The next one is possible in {standing.retry_after()} seconds."
        return None
    return await read_image(url, allow_private=context.studio.settings.webhook_allow_private, at=context.at)
