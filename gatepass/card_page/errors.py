"""Refusals of the card page: a page for who opened one, JSON for its scripts. STATUS has every status."""

from typing import Final

from fastapi import Request
from starlette.exceptions import HTTPException
from starlette.responses import HTMLResponse, JSONResponse, Response

from gatepass.base.errors import Busy, InvalidRequest, Overloaded, Refusal, Unavailable
from gatepass.base.language import translations
from gatepass.card_page.limits import TooManyGuesses, TooManyVisits
from gatepass.card_page.phones import MailNotSent
from gatepass.card_page.state import ended_notice, ended_state
from gatepass.card_page.visit import LinkEnded, LinkNotFound, pages_of, request_language
from gatepass.card_page.words import LANGUAGES
from gatepass.domain.cards import (
    CardNotFound,
    CardRevoked,
    CardSuspended,
    InvalidCode,
    InvalidProof,
    NoSigningKey,
    PhoneEnded,
    PhoneEnrolled,
    PhoneNotEnrolled,
    TooManyPhones,
)
from gatepass.domain.error_help import CLIENT_CLOSED


class CrossSite(Refusal):
    """This request came from another site."""

    code = "cross_site"


class PageFailed(Refusal):
    """Something failed on our side. Try again."""

    code = "internal_error"


class NoSuchMethod(Refusal):
    """This path does not take this method."""

    code = "method_not_allowed"


STATUS: Final[dict[type[Refusal], int]] = {
    InvalidProof: 403,
    InvalidCode: 403,
    PhoneEnrolled: 409,
    PhoneNotEnrolled: 409,
    PhoneEnded: 409,
    TooManyPhones: 409,
    MailNotSent: 409,
    NoSigningKey: 409,
    CardSuspended: 409,
    CardRevoked: 410,
    InvalidRequest: 422,
    CrossSite: 403,
    LinkNotFound: 404,
    CardNotFound: 404,
    NoSuchMethod: 405,
    LinkEnded: 410,
    TooManyVisits: 429,
    TooManyGuesses: 429,
    PageFailed: 500,
    Unavailable: 503,
    Busy: 503,
    Overloaded: 503,
}


async def refused(request: Request, refusal: Exception) -> Response:
    assert isinstance(refusal, Refusal)  # noqa: S101  registered for nothing else
    status = STATUS[type(refusal)]
    headers = {"Retry-After": str(refusal.retry_after or 1)} if status in (429, 503) else {}
    if _is_page(request):
        return HTMLResponse(_page(request, refusal), status, headers)
    if isinstance(refusal, LinkEnded):
        state = ended_state(refusal.state, pages_of(request).clock(), request_language(request))
        return JSONResponse({**state, "error": str(refusal), "code": refusal.code}, status, headers)
    sentence = str(refusal).replace(" with the same Idempotency-Key", "")
    return JSONResponse({"error": sentence, "code": refusal.code}, status, headers)


def _is_page(request: Request) -> bool:
    """Whether a person opened it, rather than a script of the page."""
    return request.method in ("GET", "HEAD") and request.url.path.count("/") == 2


def _page(request: Request, refusal: Refusal) -> str:
    language = request_language(request)
    words = translations(LANGUAGES, language)
    if isinstance(refusal, LinkEnded):
        sentence = ended_notice(refusal.state, language)
    elif isinstance(refusal, LinkNotFound | CardNotFound | NoSuchMethod):
        sentence = words.gettext("There is no card at this address. Check that you have the whole link.")
    elif isinstance(refusal, TooManyVisits | TooManyGuesses):
        sentence = words.gettext("This was opened too often. Wait a minute and try again.")
    else:
        sentence = words.gettext("Your card cannot be shown at the moment. Try again in a minute.")
    return pages_of(request).templates.render("notice.html", language, {"sentence": sentence})


async def malformed_url(request: Request, _error: Exception) -> Response:
    return await refused(request, LinkNotFound())


async def no_such_route(request: Request, error: Exception) -> Response:
    assert isinstance(error, HTTPException)  # noqa: S101  registered for nothing else
    return await refused(request, NoSuchMethod() if error.status_code == 405 else LinkNotFound())


async def hung_up(_request: Request, _error: Exception) -> Response:
    """The browser broke off its request. Nobody reads this response."""
    return Response(status_code=CLIENT_CLOSED)


async def internal_error(request: Request, _error: Exception) -> Response:
    """A fault of ours. Starlette raises it again after this response, and the middleware logs it."""
    return await refused(request, PageFailed())
