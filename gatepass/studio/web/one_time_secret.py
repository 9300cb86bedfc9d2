"""A secret that is shown once, on the page after the one that made it.

We keep only its hash. On the way to that page the browser carries it, sealed so that nobody can read it, this session
alone can open it, and only for the thing that it belongs to. The page that shows it takes it away.
"""

from base64 import urlsafe_b64decode, urlsafe_b64encode
from typing import Final
from uuid import UUID

from starlette.responses import Response

from gatepass.base.vault import VaultLocked
from gatepass.studio.visit import Visit

COOKIE: Final = "__Host-gatepass-once"
SECONDS: Final = 120


def hand_over(visit: Visit, response: Response, of: UUID, secret: str) -> None:
    sealed = urlsafe_b64encode(visit.vault.seal(secret.encode(), _context(visit, of))).decode()
    response.set_cookie(COOKIE, sealed, max_age=SECONDS, path="/", secure=True, httponly=True, samesite="strict")


def handed_over(visit: Visit, of: UUID) -> str | None:
    """The secret, if it is on its way to this very page."""
    try:
        return visit.vault.open(urlsafe_b64decode(visit.request.cookies.get(COOKIE, "")), _context(visit, of)).decode()
    except (ValueError, VaultLocked):
        return None


def take_away(response: Response) -> None:
    response.delete_cookie(COOKIE, path="/", secure=True, httponly=True, samesite="strict")


def _context(visit: Visit, of: UUID) -> str:
    return f"shown once {visit.session.id} {visit.organization_id} {of}"
