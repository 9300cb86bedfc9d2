"""`gatepass-cli trigger`: cause a webhook message, in the sandbox."""

from enum import StrEnum
from typing import Annotated, Any, Final

import typer

from gatepass_sdk import SANDBOX_EVENT_ID
from gatepass_sdk.cli.context import Context, with_context
from gatepass_sdk.cli.errors import CommandError
from gatepass_sdk.errors import AlreadyUsed


class Trigger(StrEnum):
    TICKET_ACTIVATED = "ticket.activated"
    SCAN_DENIED = "scan.denied"
    PING = "webhook.ping"
    TICKET_CANCELLED = "ticket.cancelled"
    EVENT_CANCELLED = "event.cancelled"
    CARD_STATUS_CHANGED = "card.status_changed"
    SCAN_CONFLICT = "scan.conflict"


# These are about something of your own, so a command of its own says which.
ELSEWHERE: Final = {
    Trigger.TICKET_CANCELLED: "Cancel a ticket of your sandbox: gatepass-cli tickets cancel.",
    Trigger.EVENT_CANCELLED: "Cancel an event of your sandbox: gatepass-cli events cancel.",
    Trigger.CARD_STATUS_CHANGED: "Suspend a card of your sandbox: gatepass-cli cards suspend.",
    Trigger.SCAN_CONFLICT: "Let somebody in against the record: by hand in the studio, or at a gate without a network.",
}


@with_context
def trigger(
    context: Context,
    *,
    type: Annotated[Trigger, typer.Argument(metavar="TYPE", help="ticket.activated, scan.denied or webhook.ping.")],
    endpoint: Annotated[
        str | None, typer.Option("--endpoint", metavar="ID", help="Where a ping goes, if there are several.")
    ] = None,
) -> None:
    """Make a message happen, in the sandbox.

    For the others, change what you made in the sandbox: tickets cancel, events cancel, cards suspend.
    """
    if type in ELSEWHERE:
        raise CommandError(ELSEWHERE[type])
    if not context.client.is_sandbox:
        raise CommandError("Only a sandbox key may trigger things: this one is live.")
    known = {Trigger.TICKET_ACTIVATED: _activate, Trigger.SCAN_DENIED: _deny}.get(type)
    caused = _ping(context, endpoint) if known is None else known(context)
    if context.out.as_json:
        context.out.data({"triggered": type, **caused})
        return
    context.out.line(f"Triggered {type}: {caused['by']}.", "green")
    if type is Trigger.SCAN_DENIED:
        context.out.line(
            "It is sent to endpoints that ask for scan.denied, and is in the feed if there is one.", "faint"
        )


def _activate(context: Context) -> dict[str, Any]:
    result = context.client.scans.create(SANDBOX_EVENT_ID, card_number="TEST_VALID", gate="gatepass-cli")
    return {"by": "a scan of TEST_VALID", "request_id": result.request_id}


def _deny(context: Context) -> dict[str, Any]:
    try:
        result = context.client.scans.create(SANDBOX_EVENT_ID, card_number="TEST_USED", gate="gatepass-cli")
    except AlreadyUsed as refusal:
        return {"by": "a scan of TEST_USED", "request_id": refusal.request_id}
    raise CommandError(f"TEST_USED was let in ({result.request_id}): this is not the sandbox.")


def _ping(context: Context, endpoint: str | None) -> dict[str, Any]:
    if endpoint is None:
        found = list(context.client.webhook_endpoints.list())
        if len(found) != 1:
            raise CommandError(
                f"There are {len(found)} endpoints: say which with --endpoint. webhooks list shows them."
            )
        endpoint = found[0].id
    delivery = context.client.webhook_endpoints.test(endpoint)
    return {"by": f"a test of endpoint {endpoint}", "delivery_id": delivery.id, "event_id": delivery.event_id}
