"""Thousands of generated calls to real processes; each answer is checked against the interface description."""

import json
from collections.abc import Generator
from datetime import timedelta
from decimal import Decimal
from pathlib import Path

import httpx2
import pytest

from gatepass.base.database import Database
from gatepass.domain import events, sandbox, tickets
from gatepass.domain.cards import CardStatus
from gatepass.domain.events import EventStatus
from gatepass.domain.keys import Mode
from tests import factory
from tests.contract import schemathesis_run
from tests.postgres import free_port
from tests.processes import GatepassProcess, serve
from tests.size import sized

pytestmark = pytest.mark.processes

# For each operation and phase: some 4,700 in a full live run.
CASES = sized(short={Mode.LIVE: 40, Mode.SANDBOX: 15}, full={Mode.LIVE: 60, Mode.SANDBOX: 60})
LEAST_CASES = sized(short={Mode.LIVE: 2_500, Mode.SANDBOX: 1_500}, full={Mode.LIVE: 4_000, Mode.SANDBOX: 4_000})


@pytest.fixture(scope="module")
def proxied(settings_env: dict[str, str]) -> Generator[GatepassProcess]:
    """A process that trusts our X-Forwarded-For."""
    process = serve({**settings_env, "GATEPASS_TRUSTED_PROXIES": "127.0.0.1/32"}, free_port())
    yield process
    process.stop()


async def furnished(tenant: factory.Tenant, server: GatepassProcess, key: str) -> schemathesis_run.Real:
    """Cards for each verdict, and several pages of events."""
    unused = [await tenant.card() for _ in range(60)]
    suspended, revoked, no_ticket = await tenant.card(), await tenant.card(), await tenant.card(with_ticket=False)
    # That gates show: no call changes it. The other one may be resumed.
    resumable = await tenant.card()
    for card in (suspended, resumable):
        await tenant.move_card(card, CardStatus.SUSPENDED)
    await tenant.move_card(revoked, CardStatus.REVOKED)
    cancelled = await tenant.card(with_ticket=False)
    ticket_id = await tenant.ticket(cancelled)
    async with tenant.db.transaction() as tx:
        await tickets.cancel(tx, tenant.id, ticket_id, by=factory.BY, at=factory.now(), reason="test")
    draft = await tenant.event(status=EventStatus.DRAFT)
    pages = [await tenant.event(starts_in=timedelta(days=days)) for days in (1, 2, 3)]
    async with server.client(key) as client:
        cursors = [(await client.get("/events", params={"limit": limit})).json()["next_cursor"] for limit in (1, 2, 3)]
        subscribed = await subscriptions(client)
    special = [suspended, revoked, no_ticket, cancelled]
    return schemathesis_run.Real(
        events=[str(tenant.event_id), str(tenant.event_id), str(draft), str(pages[0])],
        categories=[str(tenant.category_id)],
        cards=[str(card.id) for card in (*unused[40:50], resumable, revoked)],
        tickets=[str(ticket_id), *[str(await tenant.ticket(await tenant.card(with_ticket=False))) for _ in range(9)]],
        card_numbers=[
            *(card.number for card in unused[:30]),
            *(spelled for card in special for spelled in spellings(card.number)),
        ],
        tokens=[
            *(tenant.token(card) for card in unused[30:]),
            *(tenant.token(card, valid_for=timedelta(hours=hours)) for card in special for hours in range(1, 9)),
            *(tenant.token(card, valid_for=timedelta(seconds=-1)) for card in unused[:15]),
        ],
        cursors=cursors,
        **await changeable(tenant),
        **subscribed,
    )


def spellings(number: str) -> list[str]:
    """A value that is given twice counts once: what shall be drawn often is spelled in several ways."""
    bare = number.replace(" ", "")
    ways = [number, bare, number.replace(" ", "-"), number.replace(" ", "  ")]
    return [*ways, *(way.lower() for way in ways)]


async def changeable(tenant: factory.Tenant) -> dict[str, list[str]]:
    """Drafts and published events that nobody scans, and their categories."""
    made = [await tenant.event(status=status) for status in (EventStatus.DRAFT, EventStatus.PUBLISHED) * 6]
    async with tenant.db.transaction() as tx:
        offered = [
            await events.add_category(
                tx, tenant.id, event_id, "Standing", Decimal("25.50"), "EUR", 100, by=factory.BY, at=factory.now()
            )
            for event_id in made
        ]
    return {"changeable": [str(id) for id in made], "spare_categories": [str(id) for id in offered]}


async def in_sandbox(server: GatepassProcess, key: str) -> schemathesis_run.Real:
    async with server.client(key) as client:
        subscribed = await subscriptions(client)
    return schemathesis_run.Real(
        events=[str(sandbox.EVENT_ID)],
        categories=[str(category.id) for category in sandbox.CATALOGUE_ENTRY.categories],
        cards=[str(id) for id in sandbox.CARD_IDS.values()],
        tickets=[str(given.ticket_id) for given in sandbox.CARDS.values() if given.ticket_id],
        card_numbers=[spelled for name in sandbox.CARDS for spelled in (name, name.lower(), name.title())],
        tokens=[f"SVC1.{name}.0.0" for name in sandbox.CARDS],
        cursors=["MTkwNzc3NjgwMDAwMDAwMC4wMDAwMDAwMC0wMDAwLTAwMDAtMDAwMC0wMDAwMDAwMGU3ZTc"],
        changeable=[str(sandbox.EVENT_ID)],
        spare_categories=[str(one.id) for one in sandbox.CATALOGUE_ENTRY.categories],
        **subscribed,
    )


async def subscriptions(client: httpx2.AsyncClient) -> dict[str, list[str]]:
    """Endpoints with deliveries, and marks in the feed."""
    webhooks: list[str] = []
    deliveries: list[str] = []
    for _ in range(2):
        body = {"url": "https://example.com/", "types": ["ticket.activated", "scan.denied"]}
        webhooks.append((await client.post("/webhooks", json=body)).json()["data"]["id"])
        pings = [await client.post(f"/webhooks/{webhooks[-1]}/test") for _ in range(3)]
        deliveries += [ping.json()["data"]["id"] for ping in pings]
    marks = [(await client.get("/webhook-events", params={"limit": n})).json()["next_cursor"] for n in (1, 2, 100)]
    return {"webhooks": webhooks, "deliveries": deliveries, "marks": marks}


# Each of these must occur at least once: otherwise the calls did not get far enough.
WEBHOOK_ANSWERS = {
    (201, None),
    (202, None),
    (204, None),
    (404, "webhook_not_found"),
    (404, "delivery_not_found"),
    (409, "not_allowed"),
    (409, "too_many_endpoints"),
}
ANSWERS = {
    Mode.LIVE: {
        (200, None),
        (400, "invalid_request"),
        (400, "invalid_token"),
        (404, "event_not_found"),
        (404, "card_not_found"),
        (404, "category_not_found"),
        (404, "ticket_not_found"),
        (405, "method_not_allowed"),
        (409, "already_activated"),
        (410, "expired"),
        (422, "event_not_active"),
        (422, "card_suspended"),
        (422, "card_revoked"),
        (422, "ticket_cancelled"),
        (422, "idempotency_key_reused"),
        *WEBHOOK_ANSWERS,
    },
    Mode.SANDBOX: {
        (200, None),
        (400, "invalid_request"),
        (400, "invalid_token"),
        (400, "already_activated"),
        (400, "expired"),
        (400, "card_revoked"),
        (404, "event_not_found"),
        (404, "card_not_found"),
        (405, "method_not_allowed"),
        (422, "idempotency_key_reused"),
        *WEBHOOK_ANSWERS,
    },
}


@pytest.mark.parametrize("mode", list(Mode))
async def test_every_answer_is_as_described(
    mode: Mode, proxied: GatepassProcess, tenant: factory.Tenant, db: Database, tmp_path: Path
) -> None:
    key = await tenant.key(mode=mode, rate=100_000)
    real = await (furnished(tenant, proxied, key.text) if mode is Mode.LIVE else in_sandbox(proxied, key.text))
    report, printed = schemathesis_run.run(proxied.base_url, key.text, real, tmp_path, cases=CASES[mode])
    print(printed)
    assert report["failures"] == [], printed
    assert report["errors"] == [], printed
    assert report["complete"], printed
    assert {name: phase["status"] for name, phase in report["phases"].items()} == dict.fromkeys(
        ("examples", "coverage", "fuzzing", "stateful"), "success"
    )
    print(f"{report['test_cases']['generated']} cases in {report['running_time']:.0f} s, seed {report['seed']}")
    assert report["test_cases"]["generated"] >= LEAST_CASES[mode]
    assert ANSWERS[mode] - await answered(db, tenant, mode) == set()
    assert [line for line in proxied.lines if '"level": "error"' in line or "Traceback" in line] == []


async def answered(db: Database, tenant: factory.Tenant, mode: Mode) -> set[tuple[int, str | None]]:
    """Every status and code that was sent, by the request log."""
    async with db.autocommit() as tx:
        rows = await tx.rows(
            "SELECT DISTINCT status, code FROM logged_call WHERE organization_id = $1 AND mode = $2", tenant.id, mode
        )
    return {(row["status"], row["code"]) for row in rows}


LIED_ABOUT = ("/events", "/events/{id}", "/scan", "/card/keys")


async def test_a_description_that_lies_is_found_out(
    proxied: GatepassProcess, tenant: factory.Tenant, tmp_path: Path
) -> None:
    """One error for each of the most important checks; all in one run, because the start is slow."""
    key = await tenant.key(mode=Mode.SANDBOX, rate=100_000)
    async with proxied.client() as client:
        lying = (await client.get("/openapi.json")).json()
    lying["paths"] = {path: lying["paths"][path] for path in LIED_ABOUT}
    events, event, schemas = lying["paths"]["/events"], lying["paths"]["/events/{id}"], lying["components"]["schemas"]
    del event["get"]["responses"]["404"]
    events["get"]["parameters"][0]["schema"]["maximum"] = 10
    schemas["EventList"]["properties"]["has_more"] = {"type": "string"}
    schemas["ScanRequest"]["properties"]["event_id"] = {"type": "string"}
    lying["paths"]["/card/keys"]["get"]["responses"]["200"]["headers"]["x-request-id"] = {
        "required": True,
        "schema": {"type": "string", "maxLength": 5},
    }
    real = await in_sandbox(proxied, key.text)
    description = tmp_path / "openapi.json"
    description.write_text(json.dumps(lying))
    report, printed = schemathesis_run.run(
        proxied.base_url, key.text, real, tmp_path, cases=20, description=description
    )
    found = {(failure["type"], operation) for failure in report["failures"] for operation in failure["operations"]}
    assert found >= {
        ("UndefinedStatusCode", "GET /events/{id}"),
        ("AcceptedNegativeData", "GET /events"),
        ("JsonSchemaError", "GET /events"),
        ("JsonSchemaError", "GET /card/keys"),
    }, printed
    assert "RejectedPositiveData" in {kind for kind, _ in found}, printed
