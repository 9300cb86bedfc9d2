"""The descriptions of schemas and their fields."""

from typing import Final

from gatepass.api.openapi.event_text import EVENT_WORDS
from gatepass.api.openapi.gate.words import GATE_WORDS

# By the name of the schema, then of the field; the empty field is the schema itself.
WORDS: Final[dict[str, dict[str, str]]] = {
    **EVENT_WORDS,
    **GATE_WORDS,
    "EventList": {"": "A page of events."},
    "EventResponse": {"": "One event."},
    "CardVerification": {
        "": "What a card token is worth. Of a token that the organization did not sign, nothing is said but that.",
        "valid": "Whether the card may be used now.",
        "expired": "Whether the token has expired.",
        "card_number": "The number on the card.",
        "issued_at": "When the card was issued.",
        "card_id": "The card's UUID.",
    },
    "CardStatus": {"": "`revoked` is final; a suspended card can become active again."},
    "VerificationReason": {"": "Why a token is not valid. The card's status outranks the token's expiry."},
    "PublicKeySet": {"": "A JWK set, as in RFC 7517 and RFC 8037.", "keys": "Newest first."},
    "PublicKey": {
        "": "An Ed25519 public key. Tokens carry no key id: try each key.",
        "kid": "The key's UUID.",
    },
    "CardList": {"": "A page of cards."},
    "CardResponse": {"": "One card."},
    "Card": {
        "": "A card that a participant carries.",
        "number": "The number on the card.",
        "holder": "Who holds it; null if nobody is named.",
        "external_id": "Its id in your own system.",
        "updated_at": "When the card or its holder changed last.",
    },
    "Holder": {
        "": "The person who holds a card.",
        "name": "The name; the address, if no name was given.",
        "locale": "The person's language, as in BCP 47.",
        "companion": "Whether this is the card of a companion of the person with this address.",
    },
    "CardTokenResponse": {"": "One token."},
    "CardToken": {
        "": "A signed token. It admits anybody who has it: show it, and store it nowhere.",
        "token": "To be shown as a code.",
        "expires_at": "Until when gates take it.",
    },
    "CardLinkResponse": {"": "The link."},
    "CardLink": {"": "A link to a card's page. Whoever has it sees the card.", "url": "To be sent to the holder."},
    "CardTokenResults": {"": "A result for each card.", "data": "In the order of the request."},
    "CardTokenResult": {
        "": "What became of one card of the request.",
        "status": "As the status of a call for this card alone.",
        "data": "The token.",
        "error": "Why there is none, in a sentence.",
        "code": "Why there is none, for programs.",
        "param": "The field that is wrong.",
    },
    "TicketList": {"": "A page of tickets."},
    "TicketResponse": {"": "One ticket."},
    "Ticket": {
        "": "The right of one card to enter one event, once.",
        "tier": "A short lower-case word for what the ticket allows, such as `standard` or `vip`.",
        "category_name": "The category's name.",
        "external_id": "Its id in your own system.",
        "gate": "Where it was used.",
        "scanner_id": "The device that activated it.",
        "updated_at": "When it was issued, used, moved or cancelled last.",
    },
    "TicketState": {"": "`activated`: used at a gate. `cancelled` is final."},
    "TicketResults": {"": "A result for each item.", "data": "In the order of the request."},
    "TicketResult": {
        "": "What became of one item of a batch.",
        "status": "As the status of a call for this item alone.",
        "data": "The ticket.",
        "error": "Why there is none, in a sentence.",
        "code": "Why there is none, for programs.",
        "param": "The field that is wrong.",
    },
    "CardRequest": {
        "": "A new card. Unknown fields are ignored.",
        "holder": "Who holds it: a name, an e-mail address, or both.",
        "number": "The number of a card that is printed already. Without it one is made.",
        "external_id": "Its id in your own system: 1 to 128 printable characters.",
    },
    "CardChangeRequest": {
        "": "What is to change; what is left out stays as it is. Unknown fields are ignored.",
        "holder": "Fields of the holder; null erases all that is known of the person.",
    },
    "HolderRequest": {
        "": "A person, by a name, an e-mail address, or both.",
        "name": "One line in any script, with joiners and direction marks (U+200C to U+200F) but no other control or "
        "format character. Without it the address is shown.",
        "email": "It finds the person's card. Case does not matter; a domain is the same in all its spellings (IDNA).",
        "locale": "The person's language, as in BCP 47.",
    },
    "HolderChangeRequest": {
        "": "What is to change of the holder; what is left out stays as it is, null takes it away.",
        "name": "Without it the address is shown.",
        "email": "It must not be another person's.",
        "locale": "The person's language, as in BCP 47.",
    },
    "ReasonRequest": {"": "Why it is done.", "reason": "It is kept in the history."},
    "CardTokenRequest": {
        "": "How long the token is valid.",
        "expires_at": "RFC 3339 with an offset, at most 400 days ahead. Without it: 24 hours from now.",
    },
    "CardTokensRequest": {
        "": "The cards, and how long their tokens are valid.",
        "cards": "The UUIDs of the cards.",
        "expires_at": "RFC 3339 with an offset, at most 400 days ahead. Without it: 24 hours from now.",
    },
    "CardLinkRequest": {"": "Which link.", "replace": "True makes a new one; the old one shows nothing any more."},
    "TicketRequest": {
        "": "A new ticket, on exactly one of `card_id`, `card_number` and `holder`. Unknown fields are ignored.",
        "category_id": "A ticket category of the event.",
        "card_id": "The card's UUID.",
        "card_number": "The card's number. Case, spaces and dashes are forgiven.",
        "holder": "A person, whose card is found by the address, or made.",
        "external_id": "The ticket's id in your own system, unique for the event: 1 to 128 printable characters.",
    },
    "TicketBatchRequest": {"": "Up to 1,000 new tickets.", "tickets": "Each as the body of a single call."},
    "TransferRequest": {
        "": "Where the ticket goes, by exactly one of `card_id` and `holder`.",
        "card_id": "The card's UUID.",
        "holder": "A person, whose card is found by the address, or made.",
    },
    "ScanResponse": {"": "The activated ticket."},
    "ScanResult": {
        "": "What was activated.",
        "ticket_id": "The ticket's UUID.",
        "tier": "A short lower-case word for what the ticket allows, such as `standard` or `vip`.",
        "category_name": "The category's name, to show at the gate.",
    },
    "ScanRequest": {
        "": "A card shown at a gate, by exactly one of `card_number` and `token`. Unknown fields are ignored.",
        "event_id": "The event that the gate belongs to.",
        "card_number": "A card number typed in by hand. Case, spaces and dashes are forgiven.",
        "token": "A card token (`SVC1`), or the code of a phone (`SVC2`), as scanned.",
        "scanner_id": "The device, for the organizer's eyes.",
        "gate": "The gate, for the organizer's eyes.",
        "occurred_at": (
            "When the card was shown, if that was before this call: RFC 3339 with an offset, "
            "at most 72 hours back and 2 minutes ahead. A token or code counts as expired if it was expired then."
        ),
    },
    "WebhookList": {"": "A page of webhook endpoints."},
    "WebhookResponse": {"": "One webhook endpoint."},
    "Webhook": {
        "": "An endpoint: where messages are sent to.",
        "mode": "Of the key that made it. Live and sandbox never meet.",
        "url": "Where messages are posted to.",
        "types": "The types of messages that are sent here. Pings come when somebody asks for one.",
        "description": "For your own eyes.",
        "paused_reason": "Why it is paused; null while it is active.",
        "failing_since": "Since when nothing has got through; null while it works.",
        "rotation": "While its secret is rotated; null otherwise.",
    },
    "Mode": {"": "Of a key, and of everything that is made with it."},
    "WebhookStatus": {"": "While an endpoint is paused its messages are held. They go out when it is active again."},
    "PausedReason": {
        "": (
            "`requested` by a call, `gone` because the endpoint answered 410, `failing` because nothing got through "
            "for 72 hours, `suspended` while the organization is suspended."
        )
    },
    "MessageType": {"": "What a message tells of. There will be more types."},
    "SecretRotationState": {
        "": "A secret that is being replaced.",
        "switches_at": "From then on the new secret signs the main header, and the old one the other.",
        "retires_at": "From then on the old secret is gone.",
    },
    "NewWebhookResponse": {"": "A new endpoint with its secret."},
    "NewWebhook": {
        "": "A new endpoint. Its secret is in this answer and in no other.",
        "secret": "Signs what is sent here: keep it as you keep a password. All of it is the key, `whsec_` included.",
    },
    "RotatedWebhookResponse": {"": "An endpoint whose secret is rotated."},
    "RotatedWebhook": {
        "": "An endpoint whose secret is rotated.",
        "secret": "The new secret, this once; null where the call only switched to it.",
    },
    "DeliveryList": {"": "A page of deliveries."},
    "DeliveryResponse": {"": "One delivery."},
    "Delivery": {
        "": "One message for one endpoint.",
        "event_id": "The `id` of the message: the same at every endpoint and in every replay.",
        "attempts": "How often it was sent.",
        "next_attempt_at": "When it is sent, or sent again; null unless it is pending.",
        "last_status": "What the endpoint last answered; null if it never did.",
        "last_error": "A code for what last went wrong before there was an answer.",
        "created_at": "When it was written, in the transaction of what it tells of.",
        "ended_at": "When it was delivered or given up.",
        "replay_id": "The replay that it belongs to; null if it was sent of itself.",
    },
    "DeliveryStatus": {
        "": (
            "`pending`: still to be sent. `held`: still to be sent, and the endpoint is paused. `delivered`: answered "
            "with 2xx. `failed`: given up after 72 hours."
        )
    },
    "DeliveryDetailResponse": {"": "One delivery with all that is known about it."},
    "DeliveryDetail": {
        "": "One delivery with all that is known about it.",
        "attempts_made": "Every attempt, the first one first.",
        "body": "What is sent, to the byte; null once it is no longer kept, after 30 days.",
    },
    "DeliveryAttempt": {
        "": "One attempt to deliver a message.",
        "n": "Which attempt it was.",
        "status": "What the endpoint answered; null if it did not.",
        "error": "A code for what went wrong before there was a whole answer.",
        "address": "The address that was connected to.",
        "dns_ms": "Until the name was resolved.",
        "connect_ms": "Until the connection was secured.",
        "answer_ms": "Until the answer began.",
        "total_ms": "Until it was over.",
        "answer_head": "How the answer's body begins, if it is text.",
    },
    "ReplayList": {"": "A page of replays."},
    "ReplayResponse": {"": "One replay."},
    "Replay": {
        "": "Deliveries that are sent again.",
        "total": "How many there are to send again.",
        "done": "How many of them are on their way, or arrived.",
        "since": "Deliveries that were made at this time or later,",
        "until": "and before this one.",
        "types": "Of these types; null for all.",
        "statuses": "That ended in one of these ways.",
    },
    "ReplayStatus": {"": "`running` until all of it is on its way."},
    "ReplayCountResponse": {"": "How many deliveries would be sent again."},
    "ReplayCount": {"": "How many deliveries would be sent again.", "total": "How many."},
    "MessageList": {
        "": "A page of messages.",
        "has_more": "Whether there are more now.",
        "next_cursor": "Pass it as `after` to go on: at once if there are more, later if not. Never null.",
    },
    "Message": {
        "": "A message, as it is sent to endpoints. What each type holds is told under Messages.",
        "id": "The same each time it is sent.",
        "type": "What it tells of.",
        "created_at": "When it happened.",
        "data": "What happened.",
    },
    "WebhookRequest": {
        "": "A new endpoint. Unknown fields are ignored.",
        "url": (
            "An https URL on port 443 or 8443 at a public address, without user, password or fragment. "
            "What it redirects to is not followed."
        ),
        "types": "What is to be sent there. A type that is named twice counts once.",
        "description": "For your own eyes.",
    },
    "WebhookChangeRequest": {
        "": "What is to change; what is left out stays as it is. Unknown fields are ignored.",
        "url": "As when it was made. Where it points now starts with a clean record.",
        "types": "What is to be sent from now on.",
        "description": "For your own eyes; null takes it away.",
        "status": "`paused` holds what is sent there, `active` lets it go again.",
    },
    "SecretRotationRequest": {
        "": "Which step of a rotation. Unknown fields are ignored.",
        "switch": "true lets the new secret take over now. Otherwise a new one is issued.",
    },
    "ReplayRequest": {
        "": "Which deliveries to send again: those that fit the filter, or one. Unknown fields are ignored.",
        "since": "RFC 3339 with an offset, at most 30 days back. Without it: 24 hours before `until`.",
        "until": "RFC 3339 with an offset, not in the future. Without it: now.",
        "types": "Of these types; all if left out.",
        "statuses": "That ended in one of these ways; both if left out. What is pending is sent anyway.",
        "delivery_id": "One delivery; leave the filter out then.",
        "dry_run": "true only counts them.",
    },
}
