"""`gatepass-cli status`: the identity in use, whether the service answers, and what is left of the rate."""

import re
import time
from typing import Any

from gatepass_sdk.cli.context import Context, with_context
from gatepass_sdk.errors import PermissionDenied


@with_context
def status(context: Context) -> None:
    """Say who this is, and whether Gatepass answers.

    With what is left of the rate.
    """
    identity = context.identity
    began = time.perf_counter()
    try:
        context.client.events.list(limit=1).first()
        reads_events = True
    except PermissionDenied as refused:
        if refused.code != "insufficient_scope":
            raise
        reads_events = False
    milliseconds = round((time.perf_counter() - began) * 1000, 1)
    known: dict[str, Any] = {
        "profile": identity.profile,
        "mode": identity.mode,
        "base_url": identity.base_url,
        "reachable": True,
        "milliseconds": milliseconds,
        "reads_events": reads_events,
        "rate_left": _number("r", context.last_headers.get("ratelimit")),
        "rate_burst": _number("q", context.last_headers.get("ratelimit-policy")),
    }
    if context.out.as_json:
        context.out.data(known)
        return
    context.out.fields(
        {
            "profile": identity.profile or "none (the key is from GATEPASS_API_KEY)",
            "mode": identity.mode,
            "base URL": identity.base_url,
            "answers": f"in {milliseconds} ms",
            "events": "may be read" if reads_events else "may not be read: the key lacks events:read",
            "rate": f"{known['rate_left']} of {known['rate_burst']} calls left",
        }
    )


def _number(name: str, header: str | None) -> int | None:
    """A parameter of a RateLimit header: `"read";r=199;t=1`."""
    found = re.search(rf";{name}=(\d+)", header or "", re.ASCII)
    return int(found[1]) if found else None
