"""Attacks on the enrolment of phones, by somebody who has a forwarded link, against two card-page processes.

Whatever they send, one phone at a time shows a card, and the holder gets it back with a mailed code.
"""

import asyncio
import secrets
from collections.abc import AsyncGenerator, Generator
from contextlib import AsyncExitStack
from typing import Any

import httpx2
import pytest

from gatepass.card_page.limits import BY_LINK
from gatepass.domain import cards
from gatepass.domain.cards import Card, CardStatus, mailed_codes, phone_code
from tests import factory
from tests.card_page.conftest import ORIGIN
from tests.card_page.handset import FROM_THE_PAGE, Handset, encoded, refused
from tests.card_page.links import changed_path_of, path_of
from tests.factory import Tenant
from tests.postgres import free_port
from tests.processes import GatepassProcess, serve

ENROLLED = "SELECT public_key FROM card_phone WHERE organization_id = $1 AND card_id = $2 AND ended_at IS NULL"
ROUTES = ("/phone", "/phone/certificate", "/phone/move", "/phone/end")


@pytest.fixture(scope="module")
def processes(settings_env: dict[str, str]) -> Generator[list[GatepassProcess]]:
    environment = {
        **settings_env,
        "GATEPASS_PUBLIC_URL": ORIGIN,
        "GATEPASS_TRUSTED_PROXIES": "127.0.0.1",
        "GATEPASS_SMTP_URL": "smtp://127.0.0.1:1",
        "GATEPASS_MAIL_FROM": "cards@example.com",
    }
    started = [serve(environment, free_port(), "--only", "card-page") for _ in range(2)]
    yield started
    for process in started:
        process.stop()


@pytest.fixture
async def networks(processes: list[GatepassProcess]) -> AsyncGenerator[list[httpx2.AsyncClient]]:
    """Four callers with a network each, of whom every second one reaches the other process."""
    async with AsyncExitStack() as stack:
        yield [
            await stack.enter_async_context(
                httpx2.AsyncClient(
                    base_url=processes[n % 2].url,
                    headers={"X-Forwarded-For": f"10.{secrets.randbelow(256)}.{secrets.randbelow(256)}.{n}"},
                    timeout=60,
                )
            )
            for n in range(4)
        ]


async def held_card(tenant: Tenant, email: str = "ada@example.org") -> Card:
    async with tenant.db.transaction() as tx:
        return await cards.issue(tx, tenant.id, by=factory.BY, at=factory.now(), holder_name="Ada", holder_email=email)


async def mailed_code(tenant: Tenant, card: Card) -> str:
    """As the mail has it: the letter itself is sealed."""
    async with tenant.db.transaction() as tx:
        mail = await mailed_codes.prepare(tx, tenant.id, card.id, at=factory.now())
    assert mail is not None
    return mail.code


async def enrolled_keys(tenant: Tenant, card: Card) -> list[bytes]:
    """The keys of the phones that are enrolled, of which there may be one."""
    async with tenant.db.autocommit() as tx:
        rows = await tx.rows(ENROLLED, tenant.id, card.id)
    return [bytes(row["public_key"]) for row in rows]


async def letters(tenant: Tenant) -> int:
    async with tenant.db.autocommit() as tx:
        return await tx.value("SELECT count(*) FROM letter WHERE organization_id = $1", tenant.id)


async def posted(caller: httpx2.AsyncClient, path: str, body: dict[str, Any]) -> httpx2.Response:
    return await caller.post(path, json=body, headers=FROM_THE_PAGE)


# ---- proofs ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("route", ROUTES)
async def test_a_stolen_proof_is_worth_nothing_on_another_link(
    tenant: Tenant, networks: list[httpx2.AsyncClient], route: str
) -> None:
    """The same phone is enrolled for both cards; its proof for one does nothing to the other, nor after the change."""
    mine, other = await tenant.card(), await tenant.card()
    path, another = await path_of(tenant, mine), await path_of(tenant, other)
    phone, same_phone = Handset(networks[0], path), Handset(networks[0], another)
    same_phone.key = phone.key
    for one in (phone, same_phone):
        assert (await one.send("/phone")).status_code == 200
    stolen = phone.proof()
    if route == "/phone/move":
        stolen["old_signature"] = phone.hand_over(phone)
    refused(await posted(networks[1], another + route, stolen), 403, "invalid_proof")
    changed = await changed_path_of(tenant, mine)
    refused(await posted(networks[1], changed + route, stolen), 403, "invalid_proof")
    assert await enrolled_keys(tenant, mine) == await enrolled_keys(tenant, other) == [bytes(phone.key.verify_key)]


@pytest.mark.parametrize("late", [122, 3600, -122, -86_400])
@pytest.mark.parametrize("route", ROUTES)
async def test_a_proof_of_another_time_is_refused(
    tenant: Tenant, networks: list[httpx2.AsyncClient], route: str, late: int
) -> None:
    card = await tenant.card()
    path = await path_of(tenant, card)
    phone = Handset(networks[0], path)
    assert (await phone.send("/phone")).status_code == 200
    old = phone.proof(late) | ({"old_signature": phone.hand_over(phone)} if route == "/phone/move" else {})
    refused(await posted(networks[1], path + route, old), 403, "invalid_proof")
    renamed = old | {"at": phone.proof()["at"]}
    refused(await posted(networks[1], path + route, renamed), 403, "invalid_proof")
    assert await enrolled_keys(tenant, card) == [bytes(phone.key.verify_key)]


async def test_what_a_phone_signs_elsewhere_is_no_proof(tenant: Tenant, networks: list[httpx2.AsyncClient]) -> None:
    """A code that was shown at a gate, and a hand-over, are signatures too."""
    card = await tenant.card()
    path = await path_of(tenant, card)
    phone, thief = Handset(networks[0], path), Handset(networks[1], path)
    certificate = (await phone.send("/phone")).json()["certificate"]
    now = int(factory.now().timestamp())
    shown = phone.key.sign(f"SVC2.{certificate}.{now}".encode()).signature
    no_proofs = [encoded(shown), phone.hand_over(phone)]
    for signature in [*no_proofs, phone.proof()["proof"]]:
        refused(await thief.send("/phone/move", old_signature=signature), 403, "invalid_proof")
    for signature in no_proofs:
        refused(await posted(networks[1], path + "/phone/end", {"proof": signature, "at": now}), 403, "invalid_proof")
    assert await enrolled_keys(tenant, card) == [bytes(phone.key.verify_key)]


async def test_a_proof_that_is_sent_again_brings_no_phone_back(
    tenant: Tenant, networks: list[httpx2.AsyncClient]
) -> None:
    """Nor does a hand-over that is sent again: a key that has ended is not enrolled again."""
    card = await tenant.card()
    path = await path_of(tenant, card)
    first, second = Handset(networks[0], path), Handset(networks[1], path)
    await first.send("/phone")
    stolen, handed = first.proof(), second.proof() | {"old_signature": first.hand_over(second)}
    assert (await posted(networks[1], path + "/phone/move", handed)).status_code == 200
    assert (await second.send("/phone/end")).status_code == 200
    refused(await posted(networks[2], path + "/phone", stolen), 409, "phone_ended")
    refused(await posted(networks[2], path + "/phone/certificate", stolen), 409, "phone_not_enrolled")
    refused(await posted(networks[2], path + "/phone/move", handed), 409, "phone_not_enrolled")
    assert await enrolled_keys(tenant, card) == []


# ---- other cards -----------------------------------------------------------------------------------------------------


async def test_another_cards_code_or_phone_moves_nothing(tenant: Tenant, networks: list[httpx2.AsyncClient]) -> None:
    """The attacker holds cards of their own, here and in another organization, and gets their mails."""
    elsewhere = await factory.tenant(tenant.db)
    target, own, far = (
        await held_card(tenant),
        await held_card(tenant, "mallory@example.org"),
        await held_card(elsewhere),
    )
    path = await path_of(tenant, target)
    holder, thief = Handset(networks[0], path), Handset(networks[1], path)
    await holder.send("/phone")
    await mailed_code(tenant, target)
    own_phone = Handset(networks[1], await path_of(tenant, own))
    assert (await own_phone.send("/phone")).status_code == 200
    for code in (await mailed_code(tenant, own), await mailed_code(elsewhere, far), "0" * 12, " ", "-" * 32, "\x00"):
        refused(await thief.send("/phone/move", code=code), 403, "invalid_code")
    refused(await thief.send("/phone/move", old_signature=own_phone.hand_over(thief)), 403, "invalid_proof")
    assert await enrolled_keys(tenant, target) == [bytes(holder.key.verify_key)]


@pytest.mark.parametrize("route", [*ROUTES, "/phone/mail-code", "/short-token"])
async def test_an_ended_card_takes_no_phone(tenant: Tenant, networks: list[httpx2.AsyncClient], route: str) -> None:
    card = await held_card(tenant)
    path = await path_of(tenant, card)
    await tenant.move_card(card, CardStatus.REVOKED)
    answer = await Handset(networks[0], path).send(route)
    assert answer.status_code == 410, answer.text
    assert card.number not in answer.text
    assert (await enrolled_keys(tenant, card), await letters(tenant)) == ([], 0)


# ---- races -----------------------------------------------------------------------------------------------------------


async def test_of_many_phones_at_once_one_is_enrolled(tenant: Tenant, networks: list[httpx2.AsyncClient]) -> None:
    card = await tenant.card()
    path = await path_of(tenant, card)
    phones = [Handset(networks[n % 4], path) for n in range(24)]
    answers = await asyncio.gather(*[phone.send("/phone") for phone in phones])
    assert sorted(answer.status_code for answer in answers) == [200] + [409] * 23
    winner = next(phone for phone, answer in zip(phones, answers, strict=True) if answer.status_code == 200)
    assert await enrolled_keys(tenant, card) == [bytes(winner.key.verify_key)]


async def test_a_code_or_a_hand_over_moves_a_card_once(tenant: Tenant, networks: list[httpx2.AsyncClient]) -> None:
    card = await held_card(tenant)
    path = await path_of(tenant, card)
    code = await mailed_code(tenant, card)
    phones = [Handset(networks[n % 4], path) for n in range(12)]
    answers = await asyncio.gather(*[phone.send("/phone/move", code=code) for phone in phones])
    assert sorted(answer.status_code for answer in answers) == [200] + [403] * 11
    holder = next(phone for phone, answer in zip(phones, answers, strict=True) if answer.status_code == 200)
    others = [Handset(networks[n % 4], path) for n in range(12)]
    moves = [phone.send("/phone/move", old_signature=holder.hand_over(phone)) for phone in others]
    answers = await asyncio.gather(*moves)
    assert sorted(answer.status_code for answer in answers) == [200] + [403] * 11
    assert len(await enrolled_keys(tenant, card)) == 1


async def test_phones_that_come_and_go_leave_the_holder_a_way(
    tenant: Tenant, networks: list[httpx2.AsyncClient]
) -> None:
    """Numbers of phones are scarce: the link alone uses up half of them, and a mailed code still works."""
    card = await held_card(tenant)
    path = await path_of(tenant, card)
    for _ in range(8):
        phone = Handset(networks[0], path)
        assert (await phone.send("/phone")).status_code == 200
        assert (await phone.send("/phone/end")).status_code == 200
    refused(await Handset(networks[1], path).send("/phone"), 409, "too_many_phones")
    holder = Handset(networks[2], path)
    answer = await holder.send("/phone/move", code=await mailed_code(tenant, card))
    assert answer.status_code == 200
    async with tenant.db.autocommit() as tx:
        keys = await cards.verifying_keys(tx, tenant.id)
    code = phone_code.sign(answer.json()["certificate"], int(factory.now().timestamp()), holder.key)
    assert phone_code.verify(code, keys).phone == 8


# ---- floods ----------------------------------------------------------------------------------------------------------


async def test_a_mailbox_is_not_bombed(tenant: Tenant, networks: list[httpx2.AsyncClient]) -> None:
    """Four networks ask forty times at once, and again. Who is answered gets the same; three mails are sent an hour."""
    card = await held_card(tenant)
    path = await path_of(tenant, card)
    for _ in range(2):
        asked = [posted(networks[n % 4], path + "/phone/mail-code", {}) for n in range(40)]
        answers = await asyncio.gather(*asked)
        assert {answer.status_code for answer in answers} <= {200, 429, 503}
        assert {answer.text for answer in answers if answer.status_code == 200} == {"{}"}
    assert await letters(tenant) == mailed_codes.MOST_SENT


async def test_guessing_codes_is_limited_and_does_not_keep_the_holder_out(
    tenant: Tenant, networks: list[httpx2.AsyncClient]
) -> None:
    """The thief's phone is enrolled, three mails were asked for, and the thief tries codes as fast as can be."""
    card = await held_card(tenant)
    path = await path_of(tenant, card)
    thief, holder = Handset(networks[0], path), Handset(networks[2], path)
    await thief.send("/phone")
    codes = [await mailed_code(tenant, card) for _ in range(mailed_codes.MOST_SENT)]
    statuses: list[int] = []
    for first in range(0, 2 * BY_LINK.burst, 4):
        guesses = [thief.send("/phone/move", code=f"{n:012d}") for n in range(first, first + 4)]
        statuses += [answer.status_code for answer in await asyncio.gather(*guesses)]
    assert set(statuses) == {403, 429}
    assert statuses.count(403) < 1.5 * BY_LINK.burst
    assert (await holder.send("/phone/move", code=codes[0])).status_code == 200
    refused(await holder.send("/phone/move", code=codes[1]), 403, "invalid_code")
    assert await enrolled_keys(tenant, card) == [bytes(holder.key.verify_key)]


@pytest.mark.parametrize("route", ROUTES)
async def test_a_huge_or_endless_body_is_not_read(
    tenant: Tenant, networks: list[httpx2.AsyncClient], route: str
) -> None:
    path = await path_of(tenant, await tenant.card())
    sent = 0

    async def endless() -> AsyncGenerator[bytes]:
        nonlocal sent
        while sent < 50_000_000:
            sent += 65_536
            yield b" " * 65_536

    try:
        answer = await networks[0].post(path + route, content=endless(), headers=FROM_THE_PAGE)
    except httpx2.TransportError:
        pass  # the server hung up while this was sent
    else:
        assert answer.status_code in (413, 422)
    assert sent < 20_000_000
    assert (await networks[0].get(path + "/state")).status_code == 200
