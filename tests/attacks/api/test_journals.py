"""`POST /scans/batch` as a weapon: a thousand attempts. None uses a ticket that a scan would not, and each is seen.

The attacker has the API key of a device, or the device itself with its signing key, and may know every card number.
What is not believed is counted on the device and is in the audit log; what is believed and disagrees is an incident.
"""

from collections.abc import AsyncGenerator, Callable, Sequence
from dataclasses import dataclass
from datetime import timedelta
from itertools import count
from typing import Any
from uuid import uuid4

import httpx2
import pytest
from nacl.signing import SigningKey

from gatepass.domain.cards import Card, CardStatus
from gatepass.domain.cards.card import format_number
from tests import factory
from tests.domain.journal.device import GateDevice, Json, pair, signature, upload
from tests.factory import Tenant, now
from tests.processes import GatepassProcess

EACH = 100
AT_ONCE = 50


@dataclass
class Attack:
    """A tenant with a device in the wrong hands, one in good hands, and cards that were not used."""

    tenant: Tenant
    stolen: GateDevice
    honest: GateDevice
    cards: list[Card]
    client: httpx2.AsyncClient
    honest_client: httpx2.AsyncClient

    async def send(self, entries: Sequence[Json]) -> list[Json]:
        return [result for some in batched(entries, AT_ONCE) for result in await upload(self.client, *some)]

    async def used(self) -> int:
        return await self._value("SELECT count(activated_at) FROM ticket WHERE organization_id = $1")

    async def refused(self) -> int:
        return await self._value("SELECT sum(refused_entries)::integer FROM device WHERE organization_id = $1")

    async def incidents(self) -> int:
        return await self._value("SELECT count(DISTINCT sequence) FROM incident WHERE organization_id = $1")

    async def _value(self, sql: Any) -> int:
        async with self.tenant.db.autocommit() as tx:
            return await tx.value(sql, self.tenant.id)

    def token(self, n: int) -> str:
        return self.tenant.token(self.cards[n])


@pytest.fixture
async def attack(server: GatepassProcess, db: Any) -> AsyncGenerator[Attack]:
    tenant = await factory.tenant(db)
    stolen, honest = await pair(tenant, "North"), await pair(tenant, "North")
    cards = [await tenant.card() for _ in range(EACH)]
    async with server.client(stolen.key) as client, server.client(honest.key) as other:
        yield Attack(tenant, stolen, honest, cards, client, other)


def batched(entries: Sequence[Json], size: int) -> list[Sequence[Json]]:
    return [entries[start : start + size] for start in range(0, len(entries), size)]


def changed(entry: Json, **values: Any) -> Json:
    """The entry with another content and the old signature."""
    return {**entry, **values}


CHANGES: tuple[Callable[[Json], Json], ...] = (
    lambda entry: changed(entry, token="SVC1.x.1." + "A" * 86),
    lambda entry: changed(entry, gate="South"),
    lambda entry: changed(entry, occurred_at="2026-01-01T00:00:00Z"),
    lambda entry: changed(entry, idempotency_key="another"),
    lambda entry: changed(entry, sequence=entry["sequence"] + 5_000),
    lambda entry: changed(entry, event_id=str(uuid4())),
    lambda entry: changed(entry, admitted=not entry["admitted"]),
    lambda entry: changed(entry, signature=entry["signature"][:-2] + "__"),
    lambda entry: changed(entry, signature=""),
    lambda entry: changed(entry, signature="A" * 86),
)


async def test_a_stolen_api_key_writes_no_entry(attack: Attack) -> None:
    """Without the device's signing key: signed by another key, changed afterwards, or signed for another device."""
    thief = SigningKey.generate()
    forged = [attack.stolen.entry(token=attack.token(n), signer=thief) for n in range(EACH)]
    tampered = [
        CHANGES[n % len(CHANGES)](attack.stolen.entry(token=attack.token(n), admitted=n % 20 < 10)) for n in range(EACH)
    ]
    of_others = [attack.honest.entry(token=attack.token(n)) for n in range(EACH)]
    results = await attack.send([*forged, *tampered, *of_others])
    assert {(one["outcome"], one["code"]) for one in results} == {("rejected", "invalid_signature")}
    assert (await attack.used(), await attack.refused(), await attack.incidents()) == (0, 3 * EACH, 0)


async def test_another_event_is_not_opened(attack: Attack) -> None:
    """Of the same organization, of another one, and one that does not exist."""
    own, foreign = await attack.tenant.event(), await factory.tenant(attack.tenant.db)
    card = await foreign.card()
    entries = [
        attack.stolen.entry(
            token=attack.token(n) if n % 3 else foreign.token(card), event_id=(own, foreign.event_id, uuid4())[n % 3]
        )
        for n in range(EACH)
    ]
    results = await attack.send(entries)
    assert {(one["outcome"], one["code"]) for one in results} == {("rejected", "not_assigned")}
    assert (await attack.used(), await attack.refused()) == (0, EACH)


async def test_replayed_and_reordered_entries_change_nothing(attack: Attack) -> None:
    """The whole journal again, backwards; then every sequence with the card of another entry."""
    journal = [attack.stolen.entry(token=attack.token(n)) for n in range(EACH // 2)]
    first = await attack.send(journal)
    assert {one["outcome"] for one in first} == {"activated"}
    assert (await attack.send(journal[::-1]))[::-1] == first
    others = [attack.stolen.entry(token=attack.token(EACH // 2 + n), sequence=n + 1) for n in range(EACH // 2)]
    results = await attack.send(others)
    assert {(one["outcome"], one["code"]) for one in results} == {("rejected", "sequence_reused")}
    assert (await attack.used(), await attack.refused(), await attack.incidents()) == (EACH // 2, EACH // 2, 0)


async def test_the_keys_of_another_device_are_of_no_use(attack: Attack) -> None:
    """Its idempotency keys, signed by the thief: with the same card, and with another one."""
    half = EACH // 2
    honest = [attack.honest.entry(token=attack.token(n)) for n in range(half)]
    for some in batched(honest, AT_ONCE):
        await upload(attack.honest_client, *some)
    stolen = [
        _resigned(attack.stolen, {**entry, "token": entry["token"] if n % 2 else attack.token(half + n)}, n + 1)
        for n, entry in enumerate(honest)
    ]
    results = await attack.send(stolen)
    assert {(one["outcome"], one["code"]) for one in results} == {("rejected", "idempotency_key_reused")}
    assert (await attack.used(), await attack.refused()) == (half, half)


def _resigned(device: GateDevice, entry: Json, sequence: int) -> Json:
    body = {**entry, "sequence": sequence}
    return {**body, "signature": signature(body, device.signing_key, device.id)}


async def test_numbers_that_are_tried_out_use_up_one_ticket_in_two_seconds(attack: Attack) -> None:
    """A stolen device with every number of a manifest: half of them good, all typed within 20 seconds."""
    begin, serial = now() - timedelta(hours=1), count(77_000_000_000)
    numbers = [attack.cards[n].number if n % 2 else format_number("SVC", next(serial)) for n in range(EACH)]
    entries = [
        attack.stolen.entry(number=number, occurred_at=begin + timedelta(milliseconds=200 * n))
        for n, number in enumerate(numbers)
    ]
    results = await attack.send(entries)
    assert {one["outcome"] for one in results} == {"recorded"}
    assert (await attack.used(), await attack.incidents()) == (0, EACH)


async def test_backdated_numbers_are_tried_out_no_faster(attack: Attack) -> None:
    """Times from before the device was paired, and from the future, are all one moment: the first number counts."""
    entries = [
        attack.stolen.entry(
            number=attack.cards[n].number,
            occurred_at=f"19{70 + n % 29}-01-01T00:{n % 60:02}:00Z" if n % 2 else f"2{100 + n}-01-01T00:00:00Z",
        )
        for n in range(EACH)
    ]
    results = await attack.send(entries)
    activated = [one for one in results if one["outcome"] == "activated"]
    assert len(activated) <= 2 + EACH // AT_ONCE, "one before the pairing; in the future one for each call, at most"
    assert await attack.used() == len(activated)
    assert await attack.incidents() == EACH - len(activated)


async def test_what_a_scan_refuses_is_used_by_no_entry(attack: Attack) -> None:
    """Cards that are revoked or suspended, tokens that are forged, foreign or expired, cards without a ticket."""
    other = await factory.tenant(attack.tenant.db)
    foreign, bare = await other.card(), await attack.tenant.card(with_ticket=False)
    for n, card in enumerate(attack.cards[: EACH // 5]):
        await attack.tenant.move_card(card, CardStatus.REVOKED if n % 2 else CardStatus.SUSPENDED)
    shown = [
        *(attack.token(n) for n in range(EACH // 5)),
        *(attack.tenant.token(card, valid_for=-timedelta(days=1)) for card in attack.cards[20:40]),
        *(attack.token(n)[:-4] + "AAAA" for n in range(40, 60)),
        *[other.token(foreign)] * 20,
        *[attack.tenant.token(bare)] * 20,
    ]
    results = await attack.send([attack.stolen.entry(token=token) for token in shown])
    assert {one["outcome"] for one in results} == {"recorded"}
    assert (await attack.used(), await attack.incidents()) == (0, EACH)
    scanned = [
        await attack.honest_client.post("/scan", json={"event_id": str(attack.tenant.event_id), "token": token})
        for token in shown[::10]
    ]
    assert all(answer.status_code >= 400 for answer in scanned), "a scan refuses each of them too"


async def test_entries_that_say_refused_use_nothing(attack: Attack) -> None:
    results = await attack.send([attack.stolen.entry(token=attack.token(n), admitted=False) for n in range(EACH)])
    assert {(one["outcome"], one["code"]) for one in results} == {("recorded", "refused_by_device")}
    assert (await attack.used(), await attack.incidents()) == (0, 0)
    async with attack.tenant.db.autocommit() as tx:
        listed = await tx.value("SELECT count(*) FROM scan WHERE organization_id = $1", attack.tenant.id)
    assert listed == EACH, "each is in the list of scans"


async def test_one_ticket_is_used_once_however_often_it_is_shown(attack: Attack) -> None:
    results = await attack.send([attack.stolen.entry(token=attack.token(0)) for _ in range(EACH)])
    assert [one["outcome"] for one in results] == ["activated"] + ["recorded"] * (EACH - 1)
    assert (await attack.used(), await attack.incidents()) == (1, EACH - 1)


async def test_uploads_are_bounded(attack: Attack) -> None:
    """A thousand small uploads are refused after a few, and the gate of the other device goes on."""
    statuses = [
        (await attack.client.post("/scans/batch", json={"entries": [{"sequence": 1}]})).status_code for _ in range(40)
    ]
    assert statuses.count(429) >= 10
    assert (await upload(attack.honest_client, attack.honest.entry(token=attack.token(0))))[0]["outcome"] == "activated"
