"""An organization with a little of everything, and what a transaction leaves behind in it, without ids and times."""

import json
import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import timedelta
from decimal import Decimal
from typing import Any, Final
from uuid import UUID

from gatepass.base.database import Tx
from gatepass.domain import cards, events, tickets
from gatepass.domain.cards import HolderDetails
from gatepass.domain.events import EventStatus
from gatepass.domain.tickets import TicketRequest
from gatepass.domain.webhooks import MessageType
from tests.domain.live.test_totals import STATUSES, scan
from tests.factory import BY, VAULT, Tenant, now

# People whose turns are different ones: see `cards/people.py`.
ANN: Final = HolderDetails("Ann", "ann@example.org")
BEN: Final = HolderDetails("Ben", "ben@example.org")
NEW: Final = HolderDetails("Ann Lee", "lee@example.org")
GUESTS: Final = "name,email,reference\nIvo,ivo@example.org,I-1\nJan,jan@example.org,I-2\n"
TOLD: Final = [kind for kind in MessageType if kind not in (MessageType.PING, MessageType.SCAN_DENIED)]


@dataclass
class World:
    """Things by name. Ann's card has an unused ticket, Ben's a used one, the spare card nothing."""

    tenant: Tenant
    key_id: UUID
    ids: dict[str, UUID] = field(default_factory=dict[str, UUID])
    numbers: dict[str, str] = field(default_factory=dict[str, str])

    @property
    def id(self) -> UUID:
        return self.tenant.id


async def build(tenant: Tenant) -> World:
    world = World(tenant, (await tenant.key()).id)
    async with tenant.db.transaction() as tx:
        await _build(tx, world)
    await tenant.endpoint("https://example.com/hook", *TOLD)
    return world


async def _build(tx: Tx, world: World) -> None:
    tenant, who = world.tenant, by_now()
    world.ids |= {"night": tenant.event_id, "general": tenant.category_id}
    world.ids["vip"] = await events.add_category(
        tx, tenant.id, tenant.event_id, "VIP", Decimal(9), "EUR", 2, tier="vip", **who
    )
    for name, status in (("matinee", EventStatus.PUBLISHED), ("draft", None)):
        start = now() + timedelta(days=2)
        event = world.ids[name] = await events.create(
            tx, tenant.id, name, start, start + timedelta(hours=3), venue="Hall", city="Ghent", **who
        )
        world.ids[f"seats of {name}"] = await events.add_category(
            tx, tenant.id, event, "Seats", Decimal(5), "EUR", 5, **who
        )
        if status:
            await events.change_status(tx, tenant.id, event, status, **who)
    await _cards(tx, world)


async def _cards(tx: Tx, world: World) -> None:
    tenant, who = world.tenant, by_now()
    ids = world.ids
    ids["ann"], _ = await cards.register(tx, tenant.id, holder=ANN, external_id="member-1", **who)
    ids["ben"], _ = await cards.register(tx, tenant.id, holder=BEN, **who)
    ids["spare"], _ = await cards.register(tx, tenant.id, external_id="spare", **who)
    for name, card, category in (
        ("ticket of ann", "ann", "vip"),
        ("ticket of ben", "ben", "general"),
    ):
        request = TicketRequest(ids["night"], ids[category], card_id=ids[card], external_id=name)
        ids[name] = (await tickets.issue(tx, tenant.id, request, **who)).ticket_id
    request = TicketRequest(ids["matinee"], ids["seats of matinee"], card_id=ids["ann"])
    ids["matinee of ann"] = (await tickets.issue(tx, tenant.id, request, **who)).ticket_id
    await cards.link_of(tx, tenant.id, ids["ann"], VAULT, tenant.cell, at=now())
    for name in ("ann", "ben", "spare"):
        world.numbers[name] = (await cards.find(tx, tenant.id, ids[name])).number
    await tickets.activate(tx, [scan(tenant, world.key_id, world.numbers["ben"])], at=now(), statuses=STATUSES)


def by_now() -> dict[str, Any]:
    return {"by": BY, "at": now()}


def why() -> dict[str, Any]:
    return {**by_now(), "reason": "test"}


# ---- what is left behind ---------------------------------------------------------------------------------------

# All rows of the organization in these tables. What is random or a time in them is left out.
TABLES: Final = {
    "event": [],
    "ticket_category": [],
    "card": [],
    "card_holder": [],
    "holder_email": [],
    "card_external_id": [],
    "card_link": ["secret_hash", "sealed_secret"],
    "ended_card_link": ["secret_hash"],
    "ticket": [],
    "ticket_reference": [],
    "undone_activation": [],
    "import": [],
    "incident": ["id"],
    "scan": ["id", "at", "duration_us"],
    "audit_log": ["id", "at", "transaction"],
}
TIME: Final = re.compile(r"_at$|^(starts|ends)_at$|^created_at$")
UUID_TEXT: Final = re.compile(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}")
NUMBER: Final = re.compile(r"SVC \d{4} \d{4} \d{4}")

ROWS: Final = {table: f"SELECT to_jsonb(x)::text AS row FROM {table} x WHERE organization_id = $1" for table in TABLES}
MESSAGES: Final = "SELECT convert_from(body, 'UTF8') AS row FROM webhook_event WHERE organization_id = $1"


async def left_behind(world: World) -> dict[str, list[str]]:
    """Every row and message, in which ids and card numbers are names, and times are there or not."""
    async with world.tenant.db.autocommit() as tx:
        rows = {
            table: [_row(row["row"], TABLES[table]) for row in await tx.rows(sql, world.id)]  # pyright: ignore[reportArgumentType]
            for table, sql in ROWS.items()
        }
        told = [json.loads(row["row"]) for row in await tx.rows(MESSAGES, world.id)]
    rows["message"] = [{"type": one["type"], "data": _timeless(one["data"])} for one in told]
    names = _names(world, rows)
    return {table: sorted(_named(row, names) for row in found) for table, found in rows.items()}


def _row(text: str, left_out: Sequence[str]) -> dict[str, Any]:
    row = json.loads(text)
    return _timeless({name: value for name, value in row.items() if name not in left_out})


def _timeless(value: Any) -> Any:
    if isinstance(value, dict):
        return {
            name: ("some time" if one is not None and TIME.search(name) else _timeless(one))
            for name, one in value.items()
        }
    return [_timeless(one) for one in value] if isinstance(value, list) else value


def _names(world: World, rows: dict[str, list[dict[str, Any]]]) -> dict[str, str]:
    """Names of ids and numbers. What is new is named by what it is, so that two new cards are not taken for one."""
    names = {str(id): name for name, id in world.ids.items()}
    names |= {str(world.id): "organization", str(world.key_id): "key"}
    emails = {row["card_id"]: row["email"] for row in rows["card_holder"]}
    for card in rows["card"]:
        new = f"new {card['status']} card of {emails.get(card['id'])}"
        names.setdefault(card["id"], new)
        names[card["number"]] = f"number of {names[card['id']]}"
    for ticket in rows["ticket"]:
        names.setdefault(ticket["id"], f"new ticket for {names[ticket['event_id']]} on {names[ticket['card_id']]}")
    return names


def _named(row: dict[str, Any], names: dict[str, str]) -> str:
    text = json.dumps(row, sort_keys=True)
    text = UUID_TEXT.sub(lambda found: names.get(found.group(), "?"), text)
    return NUMBER.sub(lambda found: names.get(found.group(), "?"), text)


def named_answer(answer: str, world: World) -> str:
    """An answer without ids."""
    names = {str(id): name for name, id in world.ids.items()}
    text = UUID_TEXT.sub(lambda found: names.get(found.group(), "?"), answer)
    return NUMBER.sub("?", text)
