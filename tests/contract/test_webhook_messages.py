"""Every message is described: its envelope, the fields of its data, and its headers."""

import pytest

from gatepass.base.wire_constants import EVENT_HEADER, SIGNATURE_HEADER
from tests.contract.openapi_reader import DOCUMENT, faults

EVENT_FIELDS = {
    "event_id",
    "status",
    "title",
    "description",
    "venue",
    "city",
    "country",
    "time_zone",
    "starts_at",
    "ends_at",
    "codes",
    "doors_open_at",
    "offline",
    "ticket_categories",
    "updated_at",
}
DATA_FIELDS = {
    # The four fields of the spec, and three behind them.
    "ticket.activated": {
        "ticket_id",
        "event_id",
        "card_number",
        "activated_at",
        "occurred_at",
        "gate",
        "scanner_id",
    },
    "ticket.cancelled": {"ticket_id", "event_id", "card_number", "cancelled_at", "reason", "was_activated"},
    "event.cancelled": {"event_id", "cancelled_at", "reason"},
    "card.status_changed": {"card_id", "card_number", "previous_status", "status", "changed_at", "reason"},
    "scan.denied": {
        "event_id",
        "card_number",
        "ticket_id",
        "code",
        "gate",
        "scanner_id",
        "occurred_at",
        "denied_at",
    },
    "scan.conflict": {
        "id",
        "event_id",
        "kind",
        "ticket_id",
        "card_number",
        "gate",
        "device_id",
        "occurred_at",
        "corrected_at",
        "received_at",
        "first",
        "reason",
        "closed_at",
        "closed_by",
        "note",
    },
    "webhook.ping": {"webhook_id"},
    "ticket.issued": {"ticket_id", "event_id", "category_id", "card_id", "card_number", "external_id", "issued_at"},
    "ticket.transferred": {
        "ticket_id",
        "event_id",
        "card_id",
        "card_number",
        "previous_card_id",
        "previous_card_number",
        "transferred_at",
    },
    "ticket.activation_undone": {"ticket_id", "event_id", "card_number", "undone_at", "reason"},
    "event.published": EVENT_FIELDS | {"published_at"},
    "event.updated": EVENT_FIELDS,
    "event.ended": {"event_id", "ended_at"},
    "event.deleted": {"event_id", "deleted_at"},
    "card.issued": {"card_id", "card_number", "status", "external_id", "issued_at"},
    "card.replaced": {
        "card_id",
        "card_number",
        "new_card_id",
        "new_card_number",
        "external_id",
        "replaced_at",
        "reason",
    },
    "card.updated": {"card_id", "card_number", "external_id", "changed", "updated_at"},
}


def test_the_webhooks_are_described() -> None:
    assert set(DOCUMENT["webhooks"]) == set(DATA_FIELDS)


@pytest.mark.parametrize("type", DATA_FIELDS)
def test_a_webhook_has_its_envelope_its_data_and_its_headers(type: str) -> None:
    message = DOCUMENT["webhooks"][type]["post"]
    content = message["requestBody"]["content"]["application/json"]
    body = content["examples"][type]["value"]
    assert faults(content["schema"], body) == []
    assert set(body) == {"id", "type", "organization_id", "created_at", "data"}
    assert body["type"] == type
    assert set(body["data"]) == DATA_FIELDS[type]
    required = {header["name"] for header in message["parameters"] if header["required"]}
    assert {EVENT_HEADER, SIGNATURE_HEADER} < required
