"""The studio's cookies. `__Host-`: sent over TLS only, to this host only, and not settable by other subdomains."""

import base64
from typing import Final

from starlette.requests import Request
from starlette.responses import Response

from gatepass.domain.staff import LIFETIME

SESSION: Final = "__Host-gatepass"
FLASH: Final = "__Host-gatepass-said"
LONGEST_FLASH: Final = 500


def set_session(response: Response, token: str) -> None:
    response.set_cookie(
        SESSION, token, max_age=int(LIFETIME.total_seconds()), path="/", secure=True, httponly=True, samesite="lax"
    )


def clear_session(response: Response) -> None:
    response.delete_cookie(SESSION, path="/", secure=True, httponly=True, samesite="lax")


def session_of(request: Request) -> str | None:
    return request.cookies.get(SESSION)


def set_flash(response: Response, sentence: str) -> None:
    """A flash message: the next page shows it once."""
    text = base64.urlsafe_b64encode(sentence[:LONGEST_FLASH].encode()).decode()
    response.set_cookie(FLASH, text, max_age=60, path="/", secure=True, httponly=True, samesite="lax")


def flash_of(request: Request) -> str | None:
    try:
        return base64.urlsafe_b64decode(request.cookies.get(FLASH, "")).decode()[:LONGEST_FLASH] or None
    except ValueError:
        return None


def clear_flash(response: Response) -> None:
    response.delete_cookie(FLASH, path="/", secure=True, httponly=True, samesite="lax")
