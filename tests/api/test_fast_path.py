"""The fast path and the FastAPI routes answer alike: the same requests, in two organizations with the same data."""

import json
import random
import re
from collections.abc import AsyncGenerator
from dataclasses import dataclass
from datetime import timedelta

import httpx2
import pytest

from gatepass.api.app import create_app, routes
from gatepass.api.middleware import Middleware
from gatepass.api.state import ApiState
from gatepass.base.database import Database
from gatepass.base.settings import BASE_PATH
from gatepass.domain import keys
from gatepass.domain.cards import CardStatus
from gatepass.domain.events import EventStatus
from gatepass.domain.keys import Mode, Scope
from gatepass.domain.sandbox import EVENT_ID
from tests import factory
from tests.server.asgi import TaskTransport

pytestmark = pytest.mark.processes

REQUESTS = 1_200
SEED = 20_261_115
# Parts that differ between two equal calls.
OWN = re.compile(
    rb"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}|\d{4}-\d{2}-\d{2}T[\d:.]+Z|SVC \d{4} \d{4} \d{4}"
    rb'|"next_cursor":"[^"]+"'
)
CHANGING = {"x-request-id", "date", "ratelimit", "etag", "link"}


def forged(token: str) -> str:
    """The token with another signature. Its first character is changed: one in sixteen ends in the same two."""
    head, _, signature = token.rpartition(".")
    return f"{head}.{'B' if signature[0] == 'A' else 'A'}{signature[1:]}"


@dataclass
class Side:
    """The fast path, or the routes alone, with an organization of its own."""

    client: httpx2.AsyncClient
    state: ApiState
    keys: dict[str, str]
    cards: dict[str, list[str]]
    tokens: dict[str, list[str]]
    events: dict[str, str]


async def side(db: Database, app: Middleware) -> Side:
    place = await factory.tenant(db)
    everything = {
        "admin": await place.key(rate=1_000_000),
        "sandbox": await place.key(mode=Mode.SANDBOX, rate=1_000_000),
        "reader": await place.key(Scope.EVENTS_READ, rate=1_000_000),
        "slow": await place.key(rate=1),
        "revoked": await place.key(),
    }
    async with db.transaction() as tx:
        await keys.revoke(tx, place.id, everything["revoked"].id, by="test", at=factory.now())
    made = [await place.card() for _ in range(12)]
    suspended, revoked, bare = await place.card(), await place.card(), await place.card(with_ticket=False)
    await place.move_card(suspended, CardStatus.SUSPENDED)
    await place.move_card(revoked, CardStatus.REVOKED)
    events = {status.value: str(await place.event(status=status)) for status in EventStatus}
    app.state.open()
    transport = TaskTransport(app=app, client=("127.0.0.1", 1), raise_app_exceptions=False)
    return Side(
        httpx2.AsyncClient(transport=transport, base_url="http://gatepass.test" + BASE_PATH),
        app.state,
        {name: key.text for name, key in everything.items()} | {"none": "", "broken": "svc_live_x", "empty": " "},
        {"good": [card.number for card in made], "odd": [suspended.number, revoked.number, bare.number, "SVC 0", "x"]},
        {
            "good": [place.token(card) for card in made],
            "odd": [
                place.token(suspended),
                *[place.token(card, valid_for=-timedelta(hours=1)) for card in made[:4]],
                forged(place.token(made[1])),
                "SVC1.TEST_VALID.0.0",
                "x",
                "é",
            ],
        },
        {
            "here": str(place.event_id),
            "nowhere": "11111111-1111-1111-1111-111111111111",
            "sandbox": str(EVENT_ID),
            **events,
        },
    )


@pytest.fixture
async def sides(db: Database, database_url: str) -> AsyncGenerator[tuple[Side, Side]]:
    settings = factory.settings(database_url)
    plain = ApiState(settings)
    both = await side(db, create_app(settings)), await side(db, Middleware(routes(plain), plain))
    yield both
    for one in both:
        await one.client.aclose()
        await one.state.close()


def asked(chance: random.Random, on: Side, number: int) -> httpx2.Request:
    """The request that this random state gives, with this side's keys and cards."""
    headers = {}
    key = on.keys[
        chance.choice(["admin"] * 12 + ["sandbox"] * 4 + ["reader", "slow", "revoked", "none", "broken", "empty"])
    ]
    if key:
        headers["Authorization"] = chance.choice(["Bearer "] * 12 + ["bearer ", "Basic "]) + key
    kind = chance.random()
    if kind < 0.3:
        return _verification(chance, on, headers)
    if kind < 0.5:
        return _reading(chance, on, headers)
    retry = chance.choice(
        [
            None,
            f"own-{number}",
            f"own-{number}",
            f"shared-{number % 7}",
            "k" * 255,
            *chance.choice([[], ["", "k" * 256]]),
        ]
    )
    if retry is not None:
        headers["Idempotency-Key"] = retry
    return on.client.build_request("POST", "/scan", content=_body(chance, on), headers=headers)


def _verification(chance: random.Random, on: Side, headers: dict[str, str]) -> httpx2.Request:
    token = chance.choice(on.tokens["good"] + on.tokens["odd"] * 2 + ["SVC1.TEST_VIP.0.0", "SVC1.TEST_EXPIRED.0.0", ""])
    params = chance.choice([{"token": token}, {"token": token, "other": "1"}, {}])
    return on.client.build_request("GET", "/card/verify", params=params, headers=headers)


def _reading(chance: random.Random, on: Side, headers: dict[str, str]) -> httpx2.Request:
    """Of events: a list or one of them. Ids and times differ between the sides, and so do the tags."""
    tag = chance.choice([None] * 3 + ["*", '"0"', 'W/"0", "1"', '"', "x"])
    if tag is not None:
        headers["If-None-Match"] = tag
    ids = [*on.events.values(), "x", "", "%2e", "a/b", "é"]
    path = chance.choice(["/events"] * 3 + [f"/events/{id}" for id in ids])
    query = [("limit", ["1", "2", "100", "0", "x"]), ("status", ["draft", "published", "gone"]), ("cursor", ["x", ""])]
    params = {name: chance.choice(values) for name, values in query if chance.random() < 0.3}
    return on.client.build_request("GET", path, params=params, headers=headers)


def _body(chance: random.Random, on: Side) -> bytes:
    way = chance.choice(["card_number", "card_number", "token"])
    known = on.cards if way == "card_number" else on.tokens
    place = chance.choice(["here"] * 8 + ["nowhere", "sandbox", "sandbox", "draft", "cancelled", "ended"])
    event = on.events[place]
    names = ["TEST_VALID", "TEST_USED", "TEST_EXPIRED", "TEST_NONE"]
    card = chance.choice(chance.choice([known["good"], known["good"], known["odd"], names]))
    body: dict[str, object] = {"event_id": event, way: card}
    more = chance.choice([{}] * 9 + [{"gate": "North"}, {"gate": "a\x00b"}, {"scanner_id": "s" * 65}, {"future": [1]}])
    times = chance.choice([{}] * 9 + [{"occurred_at": factory.now().isoformat()}, {"occurred_at": "yesterday"}])
    wrong = chance.choice([{}] * 12 + [{"card_number": "x", "token": "y"}, {"event_id": 7}, {"event_id": "7"}])
    raw = json.dumps(body | more | times | wrong).encode()
    return chance.choice([raw] * 20 + [b"", b"{", b"[]", b"\xff", b"[" * 5000, b'"' + b"a" * 17_000 + b'"'])


def seen(answer: httpx2.Response) -> tuple[int, dict[str, str], bytes]:
    headers = {name: value for name, value in answer.headers.items() if name not in CHANGING}
    return answer.status_code, headers | {"names": ",".join(sorted(answer.headers))}, OWN.sub(b"*", answer.content)


async def test_the_fast_path_and_the_routes_answer_alike(sides: tuple[Side, Side]) -> None:
    statuses: dict[int, int] = {}
    for number in range(REQUESTS):
        for one in sides:  # buckets refill at the same pace on both sides
            one.state.monotonic = lambda number=number: number / 5
        fast, plain = [
            await one.client.send(asked(random.Random(SEED + number), one, number)) for one in sides
        ]  # fmt: skip
        assert seen(fast) == seen(plain), (number, fast.request.method, fast.request.url.path)
        statuses[fast.status_code] = statuses.get(fast.status_code, 0) + 1
    assert {200, 304, 400, 401, 403, 404, 409, 410, 413, 422, 429} <= set(statuses), statuses
