"""A secret that is shown once, on the page after the one that made it.

The database has only its hash. A cookie carries the secret to that page, encrypted and bound to this session and to the
object that it belongs to. The page that shows it deletes the cookie; that of a pairing code leaves it until it ends.
"""

from base64 import urlsafe_b64decode, urlsafe_b64encode
from typing import Final
from uuid import UUID

from starlette.responses import Response

from gatepass.base.encryption import VaultLocked
from gatepass.studio.web.context import Context

COOKIE: Final = "__Host-gatepass-once"
SECONDS: Final = 120


def store(context: Context, response: Response, of: UUID, secret: str, *, seconds: int = SECONDS) -> None:
    sealed = urlsafe_b64encode(context.vault.seal(secret.encode(), _sealing_context(context, of))).decode()
    response.set_cookie(COOKIE, sealed, max_age=seconds, path="/", secure=True, httponly=True, samesite="strict")


def read(context: Context, of: UUID) -> str | None:
    """The secret in the cookie, if it is for this session and this object."""
    try:
        return context.vault.open(
            urlsafe_b64decode(context.request.cookies.get(COOKIE, "")), _sealing_context(context, of)
        ).decode()
    except (ValueError, VaultLocked):
        return None


def clear(response: Response) -> None:
    response.delete_cookie(COOKIE, path="/", secure=True, httponly=True, samesite="strict")


def _sealing_context(context: Context, of: UUID) -> str:
    return f"shown once {context.session.id} {context.organization_id} {of}"
