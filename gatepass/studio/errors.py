"""What becomes of a refusal in the studio: a page that says it in words, with the request id and a way on."""

from typing import Final

from fastapi import Request
from starlette.exceptions import HTTPException
from starlette.responses import HTMLResponse, RedirectResponse, Response

from gatepass.base.refusals import Busy, InvalidRequest, NotAllowedFromHere, Overloaded, Refusal, Unavailable
from gatepass.domain import cards, events, imports, keys, staff, tickets, webhooks
from gatepass.domain.staff import confirming, invitations, one_time_code, passkey, password, team, throttling
from gatepass.studio.entrance import GoElsewhere, PageNotFound, studio_of
from gatepass.studio.form import FormTooLarge


class OurFault(Refusal):
    """Something went wrong on our side. Tell us the request id."""

    code = "internal_error"


STATUS: Final[dict[type[Refusal], int]] = {
    InvalidRequest: 422,
    staff.NotPermitted: 403,
    staff.EmailTaken: 409,
    PageNotFound: 404,
    invitations.InvitationNotFound: 404,
    invitations.ForSomebodyElse: 403,
    confirming.SessionNotFound: 404,
    passkey.PasskeyNotFound: 404,
    passkey.TooManyPasskeys: 409,
    passkey.LastCredential: 409,
    passkey.PasskeyNotKept: 422,
    one_time_code.CodesAlreadyOn: 409,
    one_time_code.WrongCode: 422,
    password.WrongPassword: 422,
    password.WeakPassword: 422,
    throttling.MustWait: 429,
    invitations.AlreadyMember: 409,
    invitations.TooManyInvitations: 409,
    team.MemberNotFound: 404,
    team.LastOwner: 409,
    events.EventNotFound: 404,
    events.CategoryNotFound: 404,
    cards.CardNotFound: 404,
    tickets.TicketNotFound: 404,
    keys.KeyNotFound: 404,
    webhooks.WebhookNotFound: 404,
    webhooks.DeliveryNotFound: 404,
    imports.ImportNotFound: 404,
    webhooks.ReplayNotFound: 404,
    FormTooLarge: 413,
    imports.FileRefused: 422,
    cards.CardRevoked: 409,
    NotAllowedFromHere: 409,
    cards.NoSigningKey: 409,
    tickets.CardHasTicket: 409,
    tickets.SoldOut: 409,
    tickets.TicketCancelled: 409,
    webhooks.TooManyEndpoints: 409,
    OurFault: 500,
    Unavailable: 503,
    Busy: 503,
    Overloaded: 503,
}


async def refused(request: Request, refusal: Exception) -> Response:
    assert isinstance(refusal, Refusal)  # noqa: S101  registered for nothing else
    sentence = str(refusal).replace(" with the same Idempotency-Key", "")
    status = STATUS[type(refusal)]
    facts = {"sentence": sentence, "status": status, "request_id": request.scope["gatepass.request_id"]}
    return HTMLResponse(studio_of(request).drawing.draw("error.html", facts), status)


async def elsewhere(request: Request, way: Exception) -> Response:
    """First somewhere else. htmx is told to leave the page, not to put another one inside it."""
    assert isinstance(way, GoElsewhere)  # noqa: S101  registered for nothing else
    if request.headers.get("hx-request"):
        return Response(status_code=204, headers={"HX-Redirect": way.url})
    return RedirectResponse(way.url, 303)


async def not_understood(request: Request, _error: Exception) -> Response:
    """What stands in an address and cannot be an id is no page."""
    return await refused(request, PageNotFound())


async def no_such_route(request: Request, error: Exception) -> Response:
    assert isinstance(error, HTTPException)  # noqa: S101  registered for nothing else
    return await refused(request, PageNotFound())


async def broken(request: Request, _error: Exception) -> Response:
    """A fault of ours; it is raised again after this answer, and logged."""
    return await refused(request, OurFault())
