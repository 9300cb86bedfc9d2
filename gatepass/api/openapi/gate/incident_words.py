"""The descriptions of journals and incidents, by schema and field."""

from typing import Final

INCIDENT_WORDS: Final[dict[str, dict[str, str]]] = {
    "ScanBatchRequest": {"": "A part of a device's journal.", "entries": "At most 500, in any order."},
    "JournalEntryRequest": {
        "": "What a device decided while it had no network. Send exactly one of `card_number` and `token`.",
        "sequence": "The number of the entry in the device's journal: 1, 2, 3 and so on, without gaps.",
        "idempotency_key": "The `Idempotency-Key` of every try of this scan by `POST /scan`.",
        "event_id": "The event that the device worked for then.",
        "card_number": "The number that somebody typed.",
        "token": "The code that was read.",
        "gate": "As it is sent with a scan. What is stored is the gate that the device worked for.",
        "scanner_id": "As it is sent with a scan.",
        "occurred_at": "When it happened, by the clock of the device, RFC 3339. No time is refused.",
        "admitted": "Whether somebody was let in.",
        "signature": (
            "Ed25519 with the device's own key, as base64url without padding, over these, joined by line feeds: "
            "`svc-journal-1`, the device's id, `sequence`, `idempotency_key`, `event_id`, the SHA-256 of the number or "
            "token in hexadecimal, `gate` (empty if there is none), `occurred_at`, and `true` or `false`."
        ),
    },
    "ScanBatchResponse": {"": "What became of a part of a journal."},
    "ScanBatch": {
        "": "A result for each entry, in the order of the request.",
        "missing": (
            "Gaps in the device's sequence: the first and the last number of each that never came, the oldest hundred."
        ),
    },
    "JournalEntryResult": {
        "": "What became of an entry. The same entry, sent again, has the same result.",
        "code": "The `code` with which a scan would have been refused, or why the entry is rejected.",
        "ticket_id": "The ticket that it is about, if there is one.",
        "incidents": "What was opened because of it.",
    },
    "EntryOutcome": {
        "": (
            "`activated`: this scan used the ticket, now or before. `recorded`: it is taken, and used nothing. "
            "`rejected`: it is not taken; the device keeps it and shows it."
        ),
    },
    "OpenedIncident": {"": "An incident of this entry."},
    "IncidentList": {"": "A page of incidents."},
    "IncidentResponse": {"": "One incident."},
    "IncidentKind": {
        "": (
            "`duplicate`: a second admission of one ticket, whatever became of the first; it may stand beside another "
            "kind. `revoked_meanwhile`, `suspended`: the card is. `cancelled`: the ticket or the event is. "
            "`unknown_card`: no card of this organization. `no_ticket`: none for this event. `expired`: the code, or "
            "it was not of the kind that the event wants. `outside_window`: before the doors opened, after the end, or "
            "outside the times of the category. `wrong_gate`: the category does not open it. `override`: a person let "
            "somebody in, or a device that was not to be relied on."
        ),
    },
    "Incident": {
        "": "Somebody was let in against the record. An admission never becomes a refusal.",
        "ticket_id": "The ticket that was shown, if the card has or had one for the event.",
        "card_number": "null if no card could be read from what was shown.",
        "device_id": "null if a person let somebody in, or another caller scanned.",
        "occurred_at": "When it happened, by the clock of the device.",
        "corrected_at": "The same by our clock, as far as we know. Rules count at it.",
        "received_at": "When we heard of it.",
        "first": "Of a duplicate: the admission that came to us before.",
        "reason": "What a person gave as reason, or why the device was not relied on.",
        "closed_by": "The person who looked into it.",
        "note": "What it was.",
    },
    "FirstAdmission": {"": "The admission before. First is who came to us first, whatever the clocks of devices say."},
}
