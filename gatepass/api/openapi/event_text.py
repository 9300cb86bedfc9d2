"""The descriptions of events and their categories, of the requests that change them, and of the list of scans."""

from typing import Final

EVENT_WORDS: Final[dict[str, dict[str, str]]] = {
    "Event": {
        "": "An event of the organization.",
        "starts_at": "RFC 3339, in UTC.",
        "ends_at": "RFC 3339, in UTC.",
        "cover_url": "Where its picture is.",
        "time_zone": "The IANA name of the clock at the venue.",
        "codes": "The codes that open it. `phone`: a typed number, or a token for longer than two minutes, does not.",
        "updated_at": "When the event itself was changed last. A sale does not change it.",
        "doors_open_at": "RFC 3339, in UTC. Scans before it are refused with `doors_closed`; null: none is.",
        "offline": "Whom a device without a network admits.",
    },
    "OfflineAdmission": {"": "Whom the `manifest` knows, any good `signature`, or nobody: `stop`."},
    "EventCodes": {"": "`any` code, or only those that a phone made itself a moment ago."},
    "EventStatus": {
        "": "Only a published event takes scans; for 72 hours one that has ended still takes those from before its "
        "end. `cancelled` and `ended` are final."
    },
    "TicketCategory": {
        "": "A kind of ticket for an event.",
        "quantity_total": "How many there are.",
        "quantity_sold": "How many are taken; never more than there are.",
        "tier": "A short lower-case word for what the ticket allows, such as `standard` or `vip`.",
        "updated_at": "When the category itself was changed last. A sale does not change it.",
        "valid_from": "From when its tickets open the gate. RFC 3339, in UTC; null: from the first scan.",
        "valid_until": "Before when its tickets open the gate. RFC 3339, in UTC; null: to the last scan.",
        "gates": "The gates that its tickets open; null: all of them.",
    },
    "EventRequest": {
        "": "A new event. Unknown fields are ignored.",
        "starts_at": "RFC 3339 with an offset.",
        "ends_at": "RFC 3339 with an offset; after the start.",
        "time_zone": "The IANA name of the clock at the venue, such as `Europe/Brussels`.",
        "country": "ISO 3166-1 alpha-2.",
        "cover_url": "A picture's address, by https.",
        "codes": "`phone`: only codes that a phone made itself a moment ago open this event. Paper needs a person.",
        "doors_open_at": "RFC 3339 with an offset. Scans before it are refused; null: none is, once it is published.",
        "offline": "Whom a device without a network admits: whom its `manifest` knows, any good `signature`, nobody.",
    },
    "EventChangeRequest": {
        "": "The fields to change; the others stay. Null clears a field that may be null.",
        "starts_at": "RFC 3339 with an offset.",
        "ends_at": "RFC 3339 with an offset; after the start.",
        "time_zone": "The IANA name of the clock at the venue, such as `Europe/Brussels`.",
        "country": "ISO 3166-1 alpha-2.",
        "cover_url": "A picture's address, by https.",
        "codes": "`phone`: only codes that a phone made itself a moment ago open this event. Paper needs a person.",
        "doors_open_at": "RFC 3339 with an offset. Scans before it are refused; null: none is, once it is published.",
        "offline": "Whom a device without a network admits: whom its `manifest` knows, any good `signature`, nobody.",
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
        "valid_from": "From when its tickets open the gate. RFC 3339 with an offset; null: from the first scan.",
        "valid_until": "Before when its tickets open the gate. RFC 3339 with an offset; null: to the last scan.",
        "gates": (
            "The gates that its tickets open, by the exact names that scans send; a scan without a gate is refused. "
            "Null or an empty list: all of them."
        ),
    },
    "TicketCategoryChangeRequest": {
        "": "The fields to change; the others stay. A new price applies to later sales only.",
        "price": "In major units of the currency.",
        "currency": "ISO 4217. It stays once a ticket is issued.",
        "quantity_total": "Never fewer than are taken.",
        "tier": "A short lower-case word for what the ticket allows, such as `standard` or `vip`.",
        "valid_from": "From when its tickets open the gate. RFC 3339 with an offset; null: from the first scan.",
        "valid_until": "Before when its tickets open the gate. RFC 3339 with an offset; null: to the last scan.",
        "gates": (
            "The gates that its tickets open, by the exact names that scans send; a scan without a gate is refused. "
            "Null or an empty list: all of them."
        ),
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
