"""An independent reader of an event's tables: plain SQL, `hmac` and `sorted`, nothing of the code under test.

It decides card by card, in the words of the format. A number that a ticket was moved away from is in the audit log.
"""

import hashlib
import hmac
from uuid import UUID

from gatepass.base.database import Tx


async def expected_records(tx: Tx, organization_id: UUID, event_id: UUID) -> bytes:
    salt = await tx.value("SELECT salt FROM event_manifest WHERE organization_id = $1 AND event_id = $2",
                          organization_id, event_id)  # fmt: skip
    tickets = await tx.rows("SELECT * FROM ticket WHERE organization_id = $1 AND event_id = $2",
                            organization_id, event_id)  # fmt: skip
    cards = {row["id"]: row for row in await tx.rows("SELECT * FROM card WHERE organization_id = $1", organization_id)}
    entries = await tx.rows("SELECT subject_id, was FROM audit_log WHERE organization_id = $1"
                            " AND action = 'moved to another card'", organization_id)  # fmt: skip
    rows = await tx.rows("SELECT id FROM ticket_category WHERE organization_id = $1 AND event_id = $2"
                         " AND removed_at IS NULL", organization_id, event_id)  # fmt: skip
    order = sorted(row["id"].bytes for row in rows)
    by_number = {row["number"]: row for row in cards.values()}
    moved = {row["was"] for row in entries if row["subject_id"] in {ticket["id"] for ticket in tickets}}
    known = {cards[ticket["card_id"]]["number"] for ticket in tickets} | {
        number for number in moved if number in by_number
    }
    records = []
    for number in known:
        card = by_number[number]
        own = [ticket for ticket in tickets if ticket["card_id"] == card["id"]]
        in_use = [ticket for ticket in own if ticket["cancelled_at"] is None]
        flags = (card["phone"] or 0) << 4
        flags |= {"active": 0, "suspended": 2, "revoked": 4}[card["status"]]
        category = 255
        if in_use:
            category = order.index(in_use[0]["category_id"].bytes)
            flags |= 1 if in_use[0]["activated_at"] is not None else 0
        elif own:
            flags |= 8
        hash = hmac.new(salt, number.encode(), hashlib.sha256).digest()
        records.append(hash[:6] + bytes([category, flags]))
    return b"".join(sorted(records))
