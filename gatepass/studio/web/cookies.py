"""The studio's cookies. `__Host-`: sent over TLS only, to this host only, and no sister host can set them."""

import base64
from typing import Final

from starlette.requests import Request
from starlette.responses import Response

from gatepass.domain.staff import LIFETIME

SESSION: Final = "__Host-gatepass"
SAID: Final = "__Host-gatepass-said"
LONGEST_SAID: Final = 500


def keep_session(response: Response, token: str) -> None:
    response.set_cookie(
        SESSION, token, max_age=int(LIFETIME.total_seconds()), path="/", secure=True, httponly=True, samesite="lax"
    )


def forget_session(response: Response) -> None:
    response.delete_cookie(SESSION, path="/", secure=True, httponly=True, samesite="lax")


def session_of(request: Request) -> str | None:
    return request.cookies.get(SESSION)


def say(response: Response, sentence: str) -> None:
    """Something to show on the next page, once."""
    text = base64.urlsafe_b64encode(sentence[:LONGEST_SAID].encode()).decode()
    response.set_cookie(SAID, text, max_age=60, path="/", secure=True, httponly=True, samesite="lax")


def said(request: Request) -> str | None:
    try:
        return base64.urlsafe_b64decode(request.cookies.get(SAID, "")).decode()[:LONGEST_SAID] or None
    except ValueError:
        return None


def forget_said(response: Response) -> None:
    response.delete_cookie(SAID, path="/", secure=True, httponly=True, samesite="lax")
