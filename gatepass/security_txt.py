"""/.well-known/security.txt (RFC 9116): whom to tell about a vulnerability, if the operator has named somebody."""

from datetime import timedelta
from typing import Final

from fastapi import APIRouter
from starlette.responses import PlainTextResponse

from gatepass.base.clock import Clock
from gatepass.base.settings import Settings

PATH: Final = "/.well-known/security.txt"
# The RFC advises less than a year. A copy that is older than this may name somebody who has left.
VALID_FOR: Final = timedelta(days=180)


def router(settings: Settings, clock: Clock) -> APIRouter:
    """The route; without a contact there is none, and the answer is 404."""
    made = APIRouter(include_in_schema=False)
    if settings.security_contact:

        @made.api_route(PATH, methods=["GET", "HEAD"])
        async def security_txt() -> PlainTextResponse:
            return PlainTextResponse(written(settings, clock), headers={"Cache-Control": "public, max-age=86400"})

    return made


def written(settings: Settings, clock: Clock) -> str:
    expires = (clock() + VALID_FOR).replace(hour=0, minute=0, second=0, microsecond=0)
    lines = [f"Contact: {contact}" for contact in settings.security_contact]
    lines += [f"Expires: {expires.strftime('%Y-%m-%dT%H:%M:%SZ')}", "Preferred-Languages: en"]
    if settings.public_url.startswith("https://"):  # the RFC allows no other
        lines.append(f"Canonical: {settings.public_url}{PATH}")
    return "\n".join([*lines, ""])
