"""The descriptions of the requests that change events, and of the list of scans."""

from typing import Final

EVENT_WORDS: Final[dict[str, dict[str, str]]] = {
    "EventRequest": {
        "": "A new event. Unknown fields are ignored.",
        "starts_at": "RFC 3339 with an offset.",
        "ends_at": "RFC 3339 with an offset; after the start.",
        "time_zone": "The IANA name of the clock at the venue, such as `Europe/Brussels`.",
        "country": "ISO 3166-1 alpha-2.",
        "cover_url": "A picture's address, by https.",
    },
    "EventChangeRequest": {
        "": "The fields to change; the others stay. Null clears a field that may be null.",
        "starts_at": "RFC 3339 with an offset.",
        "ends_at": "RFC 3339 with an offset; after the start.",
        "time_zone": "The IANA name of the clock at the venue, such as `Europe/Brussels`.",
        "country": "ISO 3166-1 alpha-2.",
        "cover_url": "A picture's address, by https.",
    },
    "EventCancellationRequest": {
        "": "Why the event is cancelled.",
        "reason": "It is sent in the messages: everybody who holds a ticket will ask.",
    },
    "TicketCategoryResponse": {"": "One ticket category."},
    "TicketCategoryRequest": {
        "": "A new kind of ticket. Unknown fields are ignored.",
        "price": "In major units of the currency.",
        "currency": "ISO 4217.",
        "quantity_total": "How many there are.",
        "tier": "A short lower-case word for what the ticket allows, such as `standard` or `vip`.",
    },
    "TicketCategoryChangeRequest": {
        "": "The fields to change; the others stay. A new price applies to later sales only.",
        "price": "In major units of the currency.",
        "currency": "ISO 4217. It stays once a ticket is issued.",
        "quantity_total": "Never fewer than are taken.",
        "tier": "A short lower-case word for what the ticket allows, such as `standard` or `vip`.",
    },
    "ScanList": {
        "": "A page of scans.",
        "next_cursor": (
            "For the next page: as `cursor`, null on the last one. In an answer to `after` it is never null, and goes "
            "on as `after`."
        ),
    },
    "RecordedScan": {
        "": "A card that was shown at a gate, and what became of it. It names no holder.",
        "id": "The UUID of the call; its request id is `req_` and the same digits.",
        "scanned_at": "When the service judged it.",
        "card_number": "The card number that was shown, as it was read.",
        "card_id": "The card's UUID; null if there is no such card.",
        "ticket_id": "The ticket's UUID; null if none was found.",
        "verdict": "`activated`, or the code of the refusal.",
        "gate": "The gate, as the call named it.",
        "scanner_id": "The device, as the call named it.",
        "occurred_at": "When the card was shown, if that was before the call.",
    },
}
