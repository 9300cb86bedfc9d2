"""Refusals become pages: the sentence, the request id and a link back to the studio. STATUS has every status."""

from typing import Final

from fastapi import Request
from starlette.exceptions import HTTPException
from starlette.responses import HTMLResponse, RedirectResponse, Response

from gatepass.base.errors import (
    Busy,
    ChangedMeanwhile,
    InvalidRequest,
    NotAllowedFromHere,
    Overloaded,
    Refusal,
    Unavailable,
)
from gatepass.domain import (
    announcements,
    card_exports,
    cards,
    devices,
    events,
    imports,
    incidents,
    keys,
    mailings,
    organizations,
    staff,
    tickets,
    webhooks,
)
from gatepass.domain.error_help import CLIENT_CLOSED
from gatepass.domain.mail import AddressNotSendable
from gatepass.domain.security_log import Action
from gatepass.domain.staff import (
    Session,
    access,
    invitations,
    one_time_code,
    passkey,
    password,
    reauthentication,
    team,
    throttle,
)
from gatepass.domain.staff.mail.address import ProofNotFound
from gatepass.domain.staff.mail.allowance import TooManyLetters
from gatepass.studio.services.documents import help_url
from gatepass.studio.services.templates import ROOT
from gatepass.studio.web.auth import RedirectRequired, studio_of
from gatepass.studio.web.forms import FormTooLarge
from gatepass.studio.web.security_events import note_not_found, note_refusal, note_stranger
from gatepass.studio.web.tab import SAFE, MadeElsewhere, PageNotFound

# The pages between a form and what it asks for.
COMES_FIRST: Final = tuple(f"{ROOT}/{page}?" for page in ("confirm", "second-factor", "sign-in"))


class InternalError(Refusal):
    """Something went wrong on our side. Tell us the request id."""

    code = "internal_error"


STATUS: Final[dict[type[Refusal], int]] = {
    InvalidRequest: 422,
    staff.NotPermitted: 403,
    staff.AccountDisabled: 403,
    access.AddressNotAllowed: 403,
    access.SecondFactorRequired: 403,
    staff.EmailTaken: 409,
    PageNotFound: 404,
    MadeElsewhere: 409,
    devices.DeviceNotFound: 404,
    devices.PairingNotFound: 404,
    devices.PairingEnded: 409,
    invitations.InvitationNotFound: 404,
    invitations.ForSomebodyElse: 403,
    invitations.ResetNeeded: 409,
    reauthentication.SessionNotFound: 404,
    passkey.PasskeyNotFound: 404,
    passkey.TooManyPasskeys: 409,
    passkey.LastCredential: 409,
    passkey.PasskeyNotKept: 422,
    one_time_code.CodesAlreadyOn: 409,
    one_time_code.WrongCode: 422,
    password.WeakPassword: 422,
    throttle.MustWait: 429,
    TooManyLetters: 429,
    ProofNotFound: 404,
    AddressNotSendable: 422,
    announcements.NothingToAnnounce: 409,
    announcements.AnnouncementUnderWay: 409,
    announcements.TooManyAnnouncements: 409,
    invitations.AlreadyMember: 409,
    invitations.TooManyInvitations: 409,
    team.MemberNotFound: 404,
    team.LastOwner: 409,
    ChangedMeanwhile: 412,
    events.EventNotFound: 404,
    events.CategoryNotFound: 404,
    cards.CardNotFound: 404,
    tickets.TicketNotFound: 404,
    keys.KeyNotFound: 404,
    incidents.IncidentNotFound: 404,
    webhooks.WebhookNotFound: 404,
    webhooks.DeliveryNotFound: 404,
    imports.ImportNotFound: 404,
    card_exports.ExportNotFound: 404,
    mailings.MailingNotFound: 404,
    webhooks.ReplayNotFound: 404,
    FormTooLarge: 413,
    imports.FileRefused: 422,
    cards.CardRevoked: 409,
    NotAllowedFromHere: 409,
    organizations.OrganizationSuspended: 409,
    cards.NoSigningKey: 409,
    tickets.CardHasTicket: 409,
    tickets.SoldOut: 409,
    tickets.TicketCancelled: 409,
    webhooks.TooManyEndpoints: 409,
    InternalError: 500,
    Unavailable: 503,
    Busy: 503,
    Overloaded: 503,
}


STATUS_HEADINGS: Final = {
    403: "Not with your role",
    404: "Not here",
    409: "Not now",
    413: "Too large",
    422: "Not like this",
    503: "Not at the moment",
}
HEADINGS: Final[dict[type[Refusal], str]] = {
    access.AddressNotAllowed: "Not from here",
    staff.AccountDisabled: "Not with this account",
    invitations.ForSomebodyElse: "Not for you",
}


async def refused(request: Request, refusal: Exception) -> Response:
    assert isinstance(refusal, Refusal)  # noqa: S101  registered for nothing else
    sentence = str(refusal).replace(" with the same Idempotency-Key", "")
    status = STATUS[type(refusal)]
    await _note(request, refusal, status)
    heading = HEADINGS.get(type(refusal)) or STATUS_HEADINGS.get(status, "Our fault")
    shut_out = isinstance(refusal, access.AddressNotAllowed) and getattr(request.state, "session", None) is not None
    facts = {
        "sentence": sentence,
        "heading": heading,
        "shut_out": shut_out,
        "help_url": help_url(request.url.path),
        "request_id": request.scope["gatepass.request_id"],
    }
    return HTMLResponse(studio_of(request).templates.render("error.html", facts), status)


async def _note(request: Request, refusal: Refusal, status: int) -> None:
    session: Session | None = getattr(request.state, "session", None)
    if status == 403 and session is None:
        note_stranger(request, Action.ACCESS_REFUSED, refusal.code)
    elif status == 403 and session is not None:
        await note_refusal(request, studio_of(request), session, refusal.code)
    elif status == 404:
        note_not_found(request, session)


async def redirected(request: Request, redirect: Exception) -> Response:
    """Redirect. htmx gets HX-Redirect, so that it leaves the page instead of putting the other one inside it.

    A form cannot be sent again: the page that comes first is told that what was sent is not done.
    """
    assert isinstance(redirect, RedirectRequired)  # noqa: S101  registered for nothing else
    url = redirect.url
    if request.method not in SAFE and url.startswith(COMES_FIRST):
        url += "&undone=1"
    if request.headers.get("hx-request"):
        return Response(status_code=204, headers={"HX-Redirect": url})
    return RedirectResponse(url, 303)


async def made_elsewhere(request: Request, refusal: Exception) -> Response:
    """A page that offers to switch. htmx loads that page instead of putting it inside the old one."""
    assert isinstance(refusal, MadeElsewhere)  # noqa: S101  registered for nothing else
    if request.headers.get("hx-request"):
        return Response(status_code=204, headers={"HX-Redirect": refusal.page})
    facts = {
        "refusal": refusal,
        "help_url": help_url(ROOT + "/organizations"),
        "request_id": request.scope["gatepass.request_id"],
    }
    return HTMLResponse(studio_of(request).templates.render("elsewhere.html", facts), STATUS[MadeElsewhere])


async def malformed_url(request: Request, _error: Exception) -> Response:
    """A URL with a malformed id is a page that does not exist."""
    return await refused(request, PageNotFound())


async def no_such_route(request: Request, error: Exception) -> Response:
    assert isinstance(error, HTTPException)  # noqa: S101  registered for nothing else
    return await refused(request, PageNotFound())


async def hung_up(_request: Request, _error: Exception) -> Response:
    """The browser broke off its form. Nobody reads this response; the log has its status."""
    return Response(status_code=CLIENT_CLOSED)


async def internal_error(request: Request, _error: Exception) -> Response:
    """A fault of ours. Starlette raises it again after this response, and it is logged."""
    return await refused(request, InternalError())
