"""Every path and method: its scope, and its handler."""

from collections.abc import Callable, Mapping
from typing import Final

from gatepass_sdk.testing import _cards, _deliveries, _endpoints, _events, _messages, _replays, _scans
from gatepass_sdk.testing._http import Reply, Request
from gatepass_sdk.testing._platform import (
    cards,
    categories,
    devices,
    events,
    incidents,
    links,
    scan_list,
    tickets,
    tokens,
)
from gatepass_sdk.testing._state import World

Handler = Callable[[World, Request], Reply]
Methods = Mapping[str, tuple[str, Handler]]

ADMIN: Final = "admin"
EVENTS_READ: Final = "events:read"
EVENTS_WRITE: Final = "events:write"
CARDS_READ: Final = "cards:read"
CARDS_WRITE: Final = "cards:write"
TICKETS_READ: Final = "tickets:read"
TICKETS_WRITE: Final = "tickets:write"
WEBHOOKS_READ: Final = "webhooks:read"
# No scope: only the key of a device opens these.
DEVICE: Final = "device"
# What the key of a device opens besides.
FOR_DEVICES: Final = frozenset({"/scan", "/events/{id}", "/card/keys", "/card/verify"})

ROUTES: Final[Mapping[str, Methods]] = {
    "/events": {"GET": (EVENTS_READ, _events.list_events), "POST": (EVENTS_WRITE, events.create_event)},
    "/events/{id}": {
        "GET": (EVENTS_READ, _events.retrieve_event),
        "PATCH": (EVENTS_WRITE, events.update_event),
        "DELETE": (EVENTS_WRITE, events.delete_event),
    },
    "/events/{id}/publish": {"POST": (EVENTS_WRITE, events.publish_event)},
    "/events/{id}/cancel": {"POST": (EVENTS_WRITE, events.cancel_event)},
    "/events/{id}/end": {"POST": (EVENTS_WRITE, events.end_event)},
    "/events/{id}/reopen": {"POST": (EVENTS_WRITE, events.reopen_event)},
    "/events/{id}/ticket-categories": {"POST": (EVENTS_WRITE, categories.create_category)},
    "/ticket-categories/{id}": {
        "PATCH": (EVENTS_WRITE, categories.update_category),
        "DELETE": (EVENTS_WRITE, categories.delete_category),
    },
    "/card/verify": {"GET": ("cards:verify", _cards.verify_card)},
    "/card/keys": {"GET": ("cards:verify", _cards.card_keys)},
    "/cards": {"GET": (CARDS_READ, cards.list_cards), "POST": (CARDS_WRITE, cards.create_card)},
    "/cards/{id}": {"GET": (CARDS_READ, cards.retrieve_card), "PATCH": (CARDS_WRITE, cards.update_card)},
    "/cards/{id}/suspend": {"POST": (CARDS_WRITE, cards.suspend_card)},
    "/cards/{id}/resume": {"POST": (CARDS_WRITE, cards.resume_card)},
    "/cards/{id}/revoke": {"POST": (CARDS_WRITE, cards.revoke_card)},
    "/cards/{id}/replace": {"POST": (CARDS_WRITE, cards.replace_card)},
    "/cards/{id}/token": {"POST": (CARDS_WRITE, tokens.create_token)},
    "/cards/{id}/link": {"POST": (CARDS_WRITE, links.create_link)},
    "/card-tokens": {"POST": (CARDS_WRITE, tokens.create_tokens)},
    "/tickets": {"GET": (TICKETS_READ, tickets.list_tickets), "POST": (TICKETS_WRITE, tickets.create_ticket)},
    "/tickets/batch": {"POST": (TICKETS_WRITE, tickets.create_tickets)},
    "/tickets/{id}": {"GET": (TICKETS_READ, tickets.retrieve_ticket)},
    "/tickets/{id}/cancel": {"POST": (TICKETS_WRITE, tickets.cancel_ticket)},
    "/tickets/{id}/transfer": {"POST": (TICKETS_WRITE, tickets.transfer_ticket)},
    "/scan": {"POST": ("tickets:activate", _scans.scan)},
    "/scans": {"GET": (TICKETS_READ, scan_list.list_scans)},
    "/devices": {"GET": (ADMIN, devices.list_devices)},
    "/devices/heartbeat": {"POST": (DEVICE, devices.heartbeat)},
    "/devices/{id}": {"GET": (ADMIN, devices.retrieve_device), "PATCH": (ADMIN, devices.update_device)},
    "/devices/{id}/retire": {"POST": (ADMIN, devices.retire_device)},
    "/devices/{id}/revoke": {"POST": (ADMIN, devices.revoke_device)},
    "/incidents": {"GET": (TICKETS_READ, incidents.list_incidents)},
    "/incidents/{id}": {"GET": (TICKETS_READ, incidents.retrieve_incident)},
    "/webhooks": {"GET": (WEBHOOKS_READ, _endpoints.list_endpoints), "POST": (ADMIN, _endpoints.create_endpoint)},
    "/webhooks/{id}": {
        "GET": (WEBHOOKS_READ, _endpoints.retrieve_endpoint),
        "PATCH": (ADMIN, _endpoints.update_endpoint),
        "DELETE": (ADMIN, _endpoints.delete_endpoint),
    },
    "/webhooks/{id}/test": {"POST": (ADMIN, _endpoints.ping_endpoint)},
    "/webhooks/{id}/rotate-secret": {"POST": (ADMIN, _endpoints.rotate_secret)},
    "/webhooks/{id}/deliveries": {"GET": (WEBHOOKS_READ, _deliveries.list_deliveries)},
    "/webhooks/{id}/deliveries/{delivery_id}": {"GET": (WEBHOOKS_READ, _deliveries.retrieve_delivery)},
    "/webhooks/{id}/replay": {"GET": (WEBHOOKS_READ, _replays.list_replays), "POST": (ADMIN, _replays.replay)},
    "/webhook-events": {"GET": (WEBHOOKS_READ, _messages.list_messages)},
}
