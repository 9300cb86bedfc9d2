"""The service's statement and the SDK's rules answer every case of sdk/cases/rules.json alike."""

import json
from collections.abc import Mapping
from datetime import datetime
from typing import Any, Final
from uuid import UUID

import pytest

from gatepass.api.responses import VERDICT_STATUSES
from gatepass.base.database import Database
from gatepass.base.ids import new_id
from gatepass.domain import tickets
from gatepass.domain.keys import Mode
from gatepass.domain.tickets import Scan
from gatepass_sdk._gate.rules import CategoryRules, EventRules, Flags, judge
from tests.factory import Tenant
from tools import rule_cases

Json = Mapping[str, Any]

CASES: Final[list[dict[str, Any]]] = json.loads(rule_cases.FILE.read_text())["cases"]


def moment(text: str | None) -> datetime | None:
    return None if text is None else datetime.fromisoformat(text)


# ---- the SDK ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("case", CASES, ids=lambda case: case["name"])
def test_the_sdk_judges_as_written(case: Json) -> None:
    scan, card = case["scan"], case["card"]
    received_at, occurred_at = datetime.fromisoformat(scan["at"]), moment(scan["occurred_at"])
    has_moved = scan["phone"] is not None and card is not None and scan["phone"] != card["phone"]
    verdict = judge(
        event_rules(case["event"]),
        category_rules(case["category"]),
        flags(card, case["ticket"]),
        moment=occurred_at or received_at,
        gate=scan["gate"],
        expired=scan["expired"] or has_moved,
        dynamic=scan["code"] in ("fresh", "phone"),
        received_at=received_at if occurred_at else None,
    )
    assert verdict == case["verdict"]


def event_rules(event: Json | None) -> EventRules | None:
    if event is None:
        return None
    ended_at = moment(event["ended_at"]) or moment(event["ends_at"])
    return EventRules(event["status"], moment(event["doors_open_at"]), event["codes"], ended_at)


def category_rules(category: Json) -> CategoryRules:
    gates = None if category["gates"] is None else tuple(category["gates"])
    return CategoryRules(moment(category["valid_from"]), moment(category["valid_until"]), gates)


def flags(card: Json | None, ticket: Json | None) -> Flags | None:
    if card is None:
        return None
    states = ticket["states"] if ticket else []
    return Flags(
        ticket="issued" in states or "activated" in states,
        used="activated" in states,
        suspended=card["status"] == "suspended",
        revoked=card["status"] == "revoked",
        cancelled="cancelled" in states,
    )


# ---- the service -----------------------------------------------------------------------------------------------


async def test_the_service_judges_as_written(db: Database, tenant: Tenant) -> None:
    key_id = (await tenant.key()).id
    found: dict[str, str] = {}
    for number, case in enumerate(CASES, 1):
        event_id, card_number = new_id(), f"SVC 0000 0000 {number:04}"
        await store(db, tenant.id, event_id, card_number, case)
        async with db.autocommit() as tx:
            scan, at = shown(tenant.id, key_id, event_id, card_number, case["scan"])
            (outcome,) = await tickets.activate(tx, [scan], at=at, statuses=VERDICT_STATUSES)
        assert outcome is not None
        found[case["name"]] = outcome.verdict
    assert found == {case["name"]: case["verdict"] for case in CASES}


async def store(db: Database, organization_id: UUID, event_id: UUID, card_number: str, case: Json) -> None:
    """The rows of a case, as they are: not every one of them can be reached by the verbs at any time."""
    event, category, card = case["event"], case["category"], case["card"]
    card_id, category_id = new_id(), new_id()
    async with db.transaction() as tx:
        if event is not None:
            times = [moment(event[name]) for name in ("ends_at", "ended_at", "doors_open_at")]
            await tx.run(EVENT, organization_id, event_id, event["status"], event["codes"], *times)
            window = [moment(category[name]) for name in ("valid_from", "valid_until")]
            await tx.run(CATEGORY, organization_id, category_id, event_id, *window, category["gates"])
        if card is not None:
            await tx.run(CARD, organization_id, card_id, card_number, card["status"], card["phone"])
        if event is not None and case["ticket"] is not None:
            for state in case["ticket"]["states"]:
                ids = (organization_id, new_id(), event_id, category_id, card_id)
                await tx.run(TICKET, *ids, state == "activated", state == "cancelled")


def shown(organization_id: UUID, key_id: UUID, event_id: UUID, card_number: str, scan: Json) -> tuple[Scan, datetime]:
    wanted = Scan(
        request_id=new_id(),
        organization_id=organization_id,
        mode=Mode.LIVE,
        key_id=key_id,
        address=None,
        elapsed_us=1,
        idempotency_key=None,
        event_id=event_id,
        card_number=card_number,
        shown=card_number,
        expired=scan["expired"],
        gate=scan["gate"],
        scanner_id=None,
        occurred_at=moment(scan["occurred_at"]),
        phone=scan["phone"],
        fresh=scan["code"] == "fresh",
    )
    return wanted, datetime.fromisoformat(scan["at"])


EVENT: Final = """
    INSERT INTO event (organization_id, id, title, starts_at, ends_at, status, codes, ended_at, doors_open_at,
                       created_at)
    VALUES ($1, $2, 'Night', $5::timestamptz - interval '4 hours', $5, $3, $4, $6, $7, now())
"""
CATEGORY: Final = """
    INSERT INTO ticket_category (organization_id, id, event_id, name, tier, price_minor, currency, quantity_total,
                                 quantity_sold, valid_from, valid_until, gates)
    VALUES ($1, $2, $3, 'General', 'standard', 0, 'EUR', 10, 10, $4, $5, $6)
"""
CARD: Final = """
    INSERT INTO card (organization_id, id, number, status, phone, issued_at) VALUES ($1, $2, $3, $4, $5, now())
"""
TICKET: Final = """
    INSERT INTO ticket (organization_id, id, event_id, category_id, card_id, issued_at, activated_at, activated_by,
                        cancelled_at)
    VALUES ($1, $2::uuid, $3, $4, $5, now(), CASE WHEN $6 THEN now() END, CASE WHEN $6 THEN $2::uuid END,
            CASE WHEN $7 THEN now() END)
"""


# ---- the file --------------------------------------------------------------------------------------------------


def test_the_file_is_what_its_tool_writes() -> None:
    assert rule_cases.FILE.read_text() == rule_cases.written()


def test_there_are_cases_of_every_verdict() -> None:
    assert len(CASES) >= 200
    assert {case["verdict"] for case in CASES} == set(rule_cases.ORDER)
    assert len({case["name"] for case in CASES}) == len(CASES)
