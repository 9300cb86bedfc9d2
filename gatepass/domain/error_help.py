"""Error help: for every error code of the API, its meaning and how to fix it.

The studio shows it beside a refused call. A test checks that no code is missing.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final


@dataclass(frozen=True, slots=True)
class ErrorHelp:
    meaning: str
    fix: str


# Logged when the client closed the connection before the response (nginx's 499).
CLIENT_CLOSED: Final = 499

ERROR_HELP: Final[Mapping[str, ErrorHelp]] = {
    "invalid_request": ErrorHelp(
        "Something in the request is missing, of the wrong type, too long, or contradicts something else.",
        "Read `param` in the answer: it names the field. Compare the request with the example in the reference.",
    ),
    "invalid_token": ErrorHelp(
        "The card token could not be read, or was not signed by a signing key of this organization that is in use.",
        "Scan the code again. If every card of a print run fails, its signing key was retired: issue new tokens.",
    ),
    "invalid_key": ErrorHelp(
        "The API key has been revoked, has expired, or was used from an address that is not on its list.",
        "Look at the key's page: roll it or make a new one, or call from an address on its list.",
    ),
    "device_revoked": ErrorHelp(
        "A person has revoked this device, or has paired it again with another phone.",
        "Pair it again if it is still needed at the door. What it admitted is uploaded after that.",
    ),
    "wrong_cell": ErrorHelp(
        "The call has reached a cell that this key does not belong to. The key itself may be good.",
        "Call the address that the key was given for. If that is what you call, the operator has to mend its routing.",
    ),
    "insufficient_scope": ErrorHelp(
        "The API key is good, but it does not have the scope that this endpoint needs.",
        "Make a key with that scope. A key never gains scopes after it was made.",
    ),
    "organization_suspended": ErrorHelp(
        "The API key is good, but the operator of this service has suspended the organization.",
        "The studio shows the reason. Ask the operator. The same key works again when they resume the organization.",
    ),
    "not_found": ErrorHelp(
        "There is nothing at this path.",
        "Check the path against the reference. Look for a doubled slash, or a missing /api/public/v1.",
    ),
    "event_not_found": ErrorHelp(
        "There is no such event in this organization and mode. Another organization's event looks the same.",
        "Copy the event's id from its page, in the mode of the key.",
    ),
    "category_not_found": ErrorHelp(
        "There is no such ticket category in this organization, or it was removed.",
        "Read the event: its ticket_categories have their ids.",
    ),
    "changed_meanwhile": ErrorHelp(
        "Somebody changed the object after the caller had read it, so If-Match stopped the call. Nothing was done.",
        "Read it again, look at what changed, and send the change with the new ETag.",
    ),
    "card_not_found": ErrorHelp(
        "There is no such card in this organization and mode. Test cards exist for the fictional event alone.",
        "Check the number for typing errors. If it is right, the card belongs to somebody else.",
    ),
    "sandbox_full": ErrorHelp(
        "The sandbox holds 50 events, 10,000 cards or 20,000 tickets already. Live data have no such bound.",
        "Empty the sandbox under Settings. It is empty a few seconds later.",
    ),
    "ticket_not_found": ErrorHelp(
        "The card is known, but it holds no ticket for this event.",
        "Check that the gate is set to the right event. If the person has paid, issue a ticket to the card.",
    ),
    "incident_not_found": ErrorHelp(
        "There is no such incident in this organization and mode.",
        "Copy its id from GET /incidents, from the answer to POST /scans/batch, or from a scan.conflict.",
    ),
    "key_not_found": ErrorHelp(
        "There is no such API key in this organization.",
        "Look for it in the list of keys; it may be in the other mode.",
    ),
    "device_not_found": ErrorHelp(
        "There is no such device in this organization and mode.",
        "List the devices with a key of the same mode, and take the id from there.",
    ),
    "pairing_not_found": ErrorHelp(
        "The pairing code is unknown, has expired or is used up. A code lives for 10 minutes.",
        "Make a new code in the studio, and type it on the device at once.",
    ),
    "pairing_ended": ErrorHelp(
        "A lead refused this device, or the pairing is over: nobody confirmed it in time, or two used one code.",
        "Make a new code in the studio, and compare the two words on both screens.",
    ),
    "invalid_signature": ErrorHelp(
        "A device's signature does not fit its public key, was used before, or its clock is wrong by over 2 minutes.",
        "Set the device's clock. If that is right, pair the device again.",
    ),
    "webhook_not_found": ErrorHelp(
        "There is no such webhook endpoint in this organization and mode, or it has been deleted.",
        "List the endpoints with a key of the same mode, and take the id from there.",
    ),
    "delivery_not_found": ErrorHelp(
        "This endpoint has no such delivery, or it is so old that it is no longer kept.",
        "List the endpoint's deliveries, and take the id from there.",
    ),
    "method_not_allowed": ErrorHelp(
        "The path exists, but it does not take this method.",
        "The `Allow` header of the answer names the methods that it takes.",
    ),
    "already_activated": ErrorHelp(
        "The ticket has been used: somebody was let in with it before. The answer says when and at which gate.",
        "If it was a mistake, undo the activation on the card's page, with a reason, and scan again.",
    ),
    "external_id_taken": ErrorHelp(
        "This external_id was sent before, with other content. A ticket keeps its own even when it is cancelled.",
        "Look the object up by its external_id. If it is another one, send another external_id.",
    ),
    "card_number_taken": ErrorHelp(
        "There is a card with this number already.",
        "Look the card up by its number, or send another number.",
    ),
    "holder_has_card": ErrorHelp(
        "One person has one card, and this e-mail address has another one. `details` has its id.",
        "Use that card, or revoke it first.",
    ),
    "guest_has_ticket": ErrorHelp(
        "This person has a ticket for the event already, and no companion was asked for.",
        "Nothing is needed, or issue the ticket to a companion.",
    ),
    "card_has_ticket": ErrorHelp(
        "The card already holds a ticket for this event, and can hold only one.",
        "Nothing is needed, or cancel the ticket that it holds first.",
    ),
    "sold_out": ErrorHelp(
        "Every place of this ticket category is taken.",
        "Raise the category's quantity, or choose another category.",
    ),
    "not_allowed": ErrorHelp(
        "What was asked for is not possible in the present state, for example to resume what was never paused.",
        "Read the sentence in the answer, look at the present state, and decide again.",
    ),
    "no_signing_key": ErrorHelp(
        "The organization has no signing key, so that no card token can be made or checked.",
        "Add a signing key in the settings.",
    ),
    "too_many_endpoints": ErrorHelp(
        "The organization has as many webhook endpoints as it may have.",
        "Delete one that is not needed. One endpoint can take several types of messages.",
    ),
    "expired": ErrorHelp(
        "The card token has expired. The card itself may be good.",
        "Let the holder open the card page again, which shows a fresh code, or type in the card number.",
    ),
    "request_too_large": ErrorHelp(
        "The body of the request is larger than 16 KiB.",
        "Send one card in each call, and only the fields in the reference.",
    ),
    "event_not_active": ErrorHelp(
        "The event is not published: it is a draft, cancelled or ended. Only a published event takes scans.",
        "Publish a draft before doors open. A cancelled or ended event stays closed; of one that ended, scans with an "
        "`occurred_at` before its end are taken for 72 hours.",
    ),
    "doors_closed": ErrorHelp(
        "The doors of the event are not open yet. `details` says when they open.",
        "Ask the guest to wait. If the doors open earlier than planned, change the time in the event's details.",
    ),
    "outside_window": ErrorHelp(
        "Tickets of this category are not good at this time. `details` says from when and until when they are.",
        "Send the guest back at the right time. If the time is wrong, change it on the category's page.",
    ),
    "wrong_gate": ErrorHelp(
        "Tickets of this category open other gates; or the scan named no gate. `details` lists the gates.",
        "Send the guest to one of them. Names are compared exactly: a scanner must send the very name of its gate.",
    ),
    "card_suspended": ErrorHelp(
        "The card is suspended. Somebody of this organization did that, and gave a reason.",
        "Read the reason on the card's page. If it no longer holds, make the card active again.",
    ),
    "card_revoked": ErrorHelp(
        "The card has been revoked. That is final.",
        "Replace the card: the holder gets a new number, and the tickets move to it.",
    ),
    "static_code_refused": ErrorHelp(
        "The event takes only codes that a phone makes itself. A typed number, paper or an old picture opens nothing.",
        "Ask the guest to open their card on their phone. For paper, a member of the team uses Let in.",
    ),
    "ticket_cancelled": ErrorHelp(
        "The ticket for this event was cancelled.",
        "Read the reason on the card's page. To let the person in, issue another ticket.",
    ),
    "idempotency_key_reused": ErrorHelp(
        "This Idempotency-Key was used before, with another body.",
        "Make a new key for each scan, such as a UUID, and repeat it only for retries of that very scan.",
    ),
    "rate_limited": ErrorHelp(
        "More calls came than the key, or the address, may make.",
        "Wait as long as `Retry-After` says. If a gate needs more, ask the operator to raise the key's rate.",
    ),
    "internal_error": ErrorHelp(
        "Something went wrong on our side. It is written down under this request id.",
        "Try again with the same Idempotency-Key. If it stays, give the operator the request id.",
    ),
    "unavailable": ErrorHelp(
        "The call could not be finished in time. Whether it took effect is not known.",
        "Try again with the same Idempotency-Key: it is then done exactly once, and answered as it was.",
    ),
    "overloaded": ErrorHelp(
        "More calls were waiting than can be answered soon, so that this one was not begun.",
        "Wait as long as `Retry-After` says, and try again. If it happens often, tell the operator.",
    ),
}

CLIENT_CLOSED_HELP: Final = ErrorHelp(
    "The caller hung up before the answer was ready. What was asked for may have been done.",
    "Give the client more time: at least 3 seconds. Then try again with the same Idempotency-Key.",
)


def help_for(status: int, code: str | None) -> ErrorHelp | None:
    """The help for a response; None for a success."""
    if status == CLIENT_CLOSED:
        return CLIENT_CLOSED_HELP
    return None if code is None else ERROR_HELP.get(code)
