"""The studio's cookies. `__Host-`: sent over TLS only, to this host only, and not settable by other subdomains."""

import base64
from typing import Final, NamedTuple

from starlette.requests import Request
from starlette.responses import Response

from gatepass.domain.staff import LIFETIME

SESSION: Final = "__Host-gatepass"
FLASH: Final = "__Host-gatepass-said"
LONGEST_FLASH: Final = 500
# Before a flash that tells of something that was not done.
WARNING: Final = "!"


def set_session(response: Response, token: str) -> None:
    response.set_cookie(
        SESSION, token, max_age=int(LIFETIME.total_seconds()), path="/", secure=True, httponly=True, samesite="lax"
    )


def clear_session(response: Response) -> None:
    response.delete_cookie(SESSION, path="/", secure=True, httponly=True, samesite="lax")


def session_of(request: Request) -> str | None:
    return request.cookies.get(SESSION)


class Flash(NamedTuple):
    """A flash message: the next page shows it once."""

    sentence: str
    warns: bool


def set_flash(response: Response, sentence: str, *, warns: bool = False) -> None:
    said = (WARNING if warns else "") + sentence[:LONGEST_FLASH]
    text = base64.urlsafe_b64encode(said.encode()).decode()
    response.set_cookie(FLASH, text, max_age=60, path="/", secure=True, httponly=True, samesite="lax")


def flash_of(request: Request) -> Flash | None:
    try:
        said = base64.urlsafe_b64decode(request.cookies.get(FLASH, "")).decode()
    except ValueError:
        return None
    sentence = said.removeprefix(WARNING)[:LONGEST_FLASH]
    return Flash(sentence, said.startswith(WARNING)) if sentence else None


def clear_flash(response: Response) -> None:
    response.delete_cookie(FLASH, path="/", secure=True, httponly=True, samesite="lax")
