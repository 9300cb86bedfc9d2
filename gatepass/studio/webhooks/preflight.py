"""A look at the URL in a form, before it is saved. Not too often: it makes this machine talk to others."""

import time
from typing import Final

from gatepass.domain.limits import Policy
from gatepass.domain.webhooks.preflight import Preflight
from gatepass.domain.webhooks.preflight import preflight as look_at
from gatepass.studio.form import Form
from gatepass.studio.visit import Visit

# Of one person: ten at once, then one in six seconds.
LOOKS: Final = Policy("preflight", 10 / 60, 10)


async def look(visit: Visit, form: Form) -> Preflight | None:
    """How each step went, or nothing, and then the form says why. No transaction is open meanwhile."""
    url = form.value("url").strip()
    if not url:
        form.errors["url"] = "This is needed."
        return None
    standing = visit.studio.looks.take(visit.session.person_id, LOOKS, time.monotonic())
    if not standing.allowed:
        form.errors["url"] = f"These are many checks. The next one is possible in {standing.retry_after()} seconds."
        return None
    return await look_at(url, allow_private=visit.studio.settings.webhook_allow_private, at=visit.at)
