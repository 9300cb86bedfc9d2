"""`gatepass-cli trigger`: make a webhook happen, in the sandbox."""

from enum import StrEnum
from typing import Annotated, Any, Final

import typer

from gatepass_sdk import SANDBOX_EVENT_ID
from gatepass_sdk.cli.desk import Desk, at_desk
from gatepass_sdk.cli.trouble import Trouble
from gatepass_sdk.errors import AlreadyUsed


class Trigger(StrEnum):
    TICKET_ACTIVATED = "ticket.activated"
    SCAN_DENIED = "scan.denied"
    PING = "webhook.ping"
    TICKET_CANCELLED = "ticket.cancelled"
    EVENT_CANCELLED = "event.cancelled"
    CARD_STATUS_CHANGED = "card.status_changed"


# What the API cannot do, and who can.
ELSEWHERE: Final = {
    Trigger.TICKET_CANCELLED: "Tickets are cancelled in the studio, on the ticket's own page.",
    Trigger.EVENT_CANCELLED: "Events are cancelled in the studio, on the event's own page.",
    Trigger.CARD_STATUS_CHANGED: "Cards are suspended and revoked in the studio, on the card's own page.",
}


@at_desk
def trigger(
    desk: Desk,
    *,
    type: Annotated[Trigger, typer.Argument(metavar="TYPE", help="ticket.activated, scan.denied or webhook.ping.")],
    endpoint: Annotated[
        str | None, typer.Option("--endpoint", metavar="ID", help="Where a ping goes, if there are several.")
    ] = None,
) -> None:
    """Make a message happen, in the sandbox.

    The API can cause ticket.activated, scan.denied and webhook.ping.
    """
    if type in ELSEWHERE:
        raise Trouble(f"{ELSEWHERE[type]} The API cannot, so this cannot be triggered here.")
    if not desk.client.is_sandbox:
        raise Trouble("Only a sandbox key may trigger things: this one is live.")
    known = {Trigger.TICKET_ACTIVATED: _activate, Trigger.SCAN_DENIED: _deny}.get(type)
    caused = _ping(desk, endpoint) if known is None else known(desk)
    if desk.out.as_json:
        desk.out.data({"triggered": type, **caused})
        return
    desk.out.line(f"Triggered {type}: {caused['by']}.", "green")
    if type is Trigger.SCAN_DENIED:
        desk.out.line("It is sent to endpoints that ask for scan.denied, and is in the feed if there is one.", "faint")


def _activate(desk: Desk) -> dict[str, Any]:
    result = desk.client.scans.create(SANDBOX_EVENT_ID, card_number="TEST_VALID", gate="gatepass-cli")
    return {"by": "a scan of TEST_VALID", "request_id": result.request_id}


def _deny(desk: Desk) -> dict[str, Any]:
    try:
        result = desk.client.scans.create(SANDBOX_EVENT_ID, card_number="TEST_USED", gate="gatepass-cli")
    except AlreadyUsed as refusal:
        return {"by": "a scan of TEST_USED", "request_id": refusal.request_id}
    raise Trouble(f"TEST_USED was let in ({result.request_id}): this is not the sandbox.")


def _ping(desk: Desk, endpoint: str | None) -> dict[str, Any]:
    if endpoint is None:
        found = list(desk.client.webhook_endpoints.list())
        if len(found) != 1:
            raise Trouble(f"There are {len(found)} endpoints: say which with --endpoint. webhooks list shows them.")
        endpoint = found[0].id
    delivery = desk.client.webhook_endpoints.test(endpoint)
    return {"by": f"a test of endpoint {endpoint}", "delivery_id": delivery.id, "event_id": delivery.event_id}
