"""Attacks on the links of cards: guessing, hostile paths, other organizations, ended cards, and reads that write."""

import asyncio
import hashlib
import time
from collections.abc import AsyncGenerator
from typing import Any, LiteralString, cast

import httpx2
import psycopg
import pytest
from psycopg import sql

from gatepass.card_page.limits import UNKNOWN
from gatepass.domain import cards, tickets
from gatepass.domain.cards import CardStatus
from gatepass.domain.cell import new_token
from tests import factory
from tests.attacks.limits import granted
from tests.card_page.event_stream import open_stream
from tests.card_page.links import changed_path_of, path_of
from tests.postgres import free_port
from tests.processes import GatepassProcess, serve

SECRETS = ("Summer Opening", "Harbour Nights", "Hall 1", "General", "SVC1.", "<svg", "Ann Example")


@pytest.fixture
async def visitor(behind_proxy: GatepassProcess) -> AsyncGenerator[httpx2.AsyncClient]:
    """A visitor with an address of their own, so that no test uses up the limits of another."""
    octets = hashlib.sha256(new_token("a").encode()).digest()
    address = f"10.{octets[0]}.{octets[1]}.{octets[2]}"
    async with httpx2.AsyncClient(
        base_url=behind_proxy.url, headers={"X-Forwarded-For": address}, timeout=60
    ) as client:
        yield client


# ---- guessing -------------------------------------------------------------------------------------------------


async def test_guessing_is_limited_and_finds_nothing(visitor: httpx2.AsyncClient, tenant: factory.Tenant) -> None:
    """Each guess differs from a real link in one character only."""
    path = await path_of(tenant, await tenant.card())
    guesses = [path[:place] + ("A" if path[place] != "A" else "B") + path[place + 1 :] for place in range(5, 47)]
    began = time.monotonic()
    answers = [await visitor.get(guess + "/state") for guess in guesses]
    statuses = [answer.status_code for answer in answers]
    assert statuses[: UNKNOWN.burst] == [404] * UNKNOWN.burst
    assert set(statuses) == {404, 429}
    assert statuses.count(404) <= granted(UNKNOWN, since=began)
    assert not [answer for answer in answers if any(secret in answer.text for secret in SECRETS)]


async def test_many_guesses_at_once_are_limited_too(visitor: httpx2.AsyncClient) -> None:
    answers = await asyncio.gather(*[visitor.get("/c/" + new_token("a")) for _ in range(200)])
    looked_up = [answer for answer in answers if answer.status_code == 404]
    # Those that were on their way when the limit was reached are looked up as well.
    assert len(looked_up) < 150
    await visitor.get("/c/" + new_token("a"))  # the one that a slow machine may be granted meanwhile
    assert (await visitor.get("/c/" + new_token("a"))).status_code == 429


# ---- hostile tokens and paths ---------------------------------------------------------------------------------

HOSTILE = [
    "/c", "/c/", "/c//", "/c/.", "/c/..", "/c/%2e%2e/studio", "/c/static/../../etc/passwd",
    "/c/static/x/..%2f..%2fapp.py", "/c/static/0000000000000000/%00.css", "/c/static//etc/passwd",
    "/c/a." + "A" * 42, "/c/a." + "A" * 44, "/c/A." + "A" * 43, "/c/1." + "A" * 43, "/c/.." + "A" * 43,
    "/c/a." + "A" * 42 + "%0a", "/c/a." + "A" * 42 + "%00", "/c/a." + "A" * 42 + "'", "/c/a." + "%C3%A9" * 43,
    "/c/a." + "A" * 8000, "/c/a." + "A" * 43 + "/state/../../../studio", "/c/a." + "A" * 43 + "/" + "x" * 4000,
    "/c/" + "%" * 40, "/c/a.<script>alert(1)</script>", "/c/worker.js/../x", "/c/{token}", "/c/$%7Bjndi:ldap://x%7D",
]  # fmt: skip


@pytest.mark.parametrize("path", HOSTILE)
async def test_a_hostile_path_finds_nothing(visitor: httpx2.AsyncClient, path: str) -> None:
    for method in ("GET", "HEAD", "POST", "DELETE"):
        answer = await visitor.request(method, path, headers={"Sec-Fetch-Site": "same-origin"})
        assert answer.status_code in (303, 307, 400, 401, 404, 405, 414, 429, 431), answer.text
        assert "<script>alert" not in answer.text
        assert "root:" not in answer.text


@pytest.mark.parametrize("query", ["?language=../../x", "?language=%00", "?version=" + "x" * 5000, "?" + "a=b&" * 500])
async def test_a_hostile_query_changes_nothing(visitor: httpx2.AsyncClient, tenant: factory.Tenant, query: str) -> None:
    path = await path_of(tenant, await tenant.card())
    for accepted in ("en", "x" * 5000, "\xff;q=9,,,"):
        headers = [(b"accept-language", accepted.encode("latin-1"))]
        answer = await visitor.get(path + "/state" + query, headers=headers)
        assert (answer.status_code, answer.json()["language"]) == (200, "en")


# ---- a read writes nothing ------------------------------------------------------------------------------------


def everything(url: str) -> dict[str, str]:
    """A digest of every table."""
    with psycopg.connect(url) as connection:
        names = [name for (name,) in connection.execute(TABLES)]
        return {name: _digest(connection, name) for name in names}


def _digest(connection: psycopg.Connection[Any], table: str) -> str:
    row = connection.execute(DIGEST.format(sql.SQL(cast("LiteralString", table)))).fetchone()
    assert row is not None
    return row[0]


DIGEST = sql.SQL("SELECT md5(coalesce(string_agg(t::text, '|' ORDER BY t::text), '')) FROM {} t")
TABLES = """
    SELECT oid::regclass::text
      FROM pg_class
     WHERE relnamespace = 'public'::regnamespace
       AND relkind = 'r'
     ORDER BY 1
"""


async def test_a_get_changes_nothing(settings_env: dict[str, str], tenant: factory.Tenant) -> None:
    """The whole database before and after: programs that check mails open links, and follow what they find."""
    sandbox = await factory.sandbox_twin(tenant)
    card, ended = await tenant.card(), await tenant.card()
    paths = [
        await path_of(tenant, card),
        await path_of(sandbox, await sandbox.card()),
        await path_of(tenant, ended),
        "/c/" + new_token("a"),
    ]
    await tenant.move_card(ended, CardStatus.REVOKED)
    url = settings_env["GATEPASS_DATABASE_URL"]
    server = serve(settings_env, free_port(), "--only", "card-page")
    try:
        before = await asyncio.to_thread(everything, url)
        assert len(before) > 30
        async with httpx2.AsyncClient(base_url=server.url, timeout=60) as client:
            for path in paths:
                for rest in ("", "/state", "/manifest.webmanifest", "/phone", "/wallet/apple", "/wallet/google"):
                    await client.get(path + rest)
                    await client.head(path + rest)
        async with open_stream(server.port, paths[0] + "/stream") as stream:
            await stream.changed()
        after = await asyncio.to_thread(everything, url)
    finally:
        await asyncio.to_thread(server.stop)
    assert [name for name in before if before[name] != after[name]] == []


# ---- other organizations, and cards that ended -----------------------------------------------------------------


async def test_a_link_shows_its_own_card_alone(visitor: httpx2.AsyncClient, tenant: factory.Tenant) -> None:
    other = await factory.tenant(tenant.db, card_prefix="OTH")
    mine, theirs, second = await tenant.card(), await other.card(), await tenant.card()
    for owner, card in ((tenant, mine), (other, theirs)):
        path = await path_of(owner, card)
        shown = (await visitor.get(path)).text + (await visitor.get(path + "/state")).text
        assert card.number in shown
        assert not [number for number in {mine.number, theirs.number, second.number} - {card.number} if number in shown]
        assert str(other.event_id if owner is tenant else tenant.event_id) not in shown


@pytest.mark.parametrize("how", ["revoked", "replaced", "merged", "erased", "changed", "closed", "deleted"])
async def test_an_ended_link_says_so_and_shows_nothing(
    visitor: httpx2.AsyncClient, tenant: factory.Tenant, how: str
) -> None:
    async with tenant.db.transaction() as tx:
        card = await cards.issue(tx, tenant.id, by=factory.BY, at=factory.now(), holder_name="Ann Example")
    if how != "deleted":
        await tenant.ticket(card)
    path = await path_of(tenant, card)
    assert (await visitor.get(path)).status_code == 200
    await _end(tenant, card, how)
    page, state = await visitor.get(path), await visitor.get(path + "/state")
    expected = 404 if how == "deleted" else 410
    assert (page.status_code, state.status_code) == (expected, expected)
    for answer in (page, state):
        assert not [secret for secret in (card.number, *SECRETS) if secret in answer.text]
    async with open_stream(visitor.base_url.port or 0, path + "/stream") as stream:
        assert stream.status == expected
    wanted = {"replaced": "replaced", "merged": "replaced", "changed": "replaced", "deleted": None}.get(how, "ended")
    assert state.json().get("card", {}).get("status") == wanted


async def _end(tenant: factory.Tenant, card: cards.Card, how: str) -> None:
    who: dict[str, Any] = {"by": factory.BY, "at": factory.now()}
    match how:
        case "revoked":
            await tenant.move_card(card, CardStatus.REVOKED)
        case "changed":
            await changed_path_of(tenant, card)
        case _:
            kept = await tenant.card(with_ticket=False)
            async with tenant.db.transaction() as tx:
                if how == "replaced":
                    await tickets.replace(tx, tenant.id, card.id, reason="lost", **who)
                elif how == "merged":
                    await tickets.merge(tx, tenant.id, card.id, kept.id, reason="twice", **who)
                elif how == "erased":
                    await cards.erase_holder(tx, tenant.id, card.id, **who)
                elif how == "closed":
                    await tx.run("UPDATE organization SET closed_at = now() WHERE id = $1", tenant.id)
                else:  # as an import that is undone deletes it
                    await tx.run("DELETE FROM card_holder WHERE organization_id = $1", tenant.id)
                    await tx.run("DELETE FROM card WHERE organization_id = $1 AND id = $2", tenant.id, card.id)


async def test_a_link_of_version_0_2_that_was_left_shows_nothing(
    visitor: httpx2.AsyncClient, tenant: factory.Tenant
) -> None:
    """An older process that runs beside this one revokes a card, and knows nothing of links."""
    card = await tenant.card()
    path = await path_of(tenant, card)
    async with tenant.db.transaction() as tx:
        await tx.run("UPDATE card SET status = 'revoked' WHERE organization_id = $1 AND id = $2", tenant.id, card.id)
    answer = await visitor.get(path + "/state")
    assert (answer.status_code, answer.json()["card"]) == (410, {"number": None, "status": "ended"})


# ---- other sites, caches and crowds ----------------------------------------------------------------------------


@pytest.mark.parametrize("site", ["cross-site", "same-site", "none", ""])
@pytest.mark.parametrize("rest", ["/phone", "/phone/move", "/phone/end", "/short-token", "/state", ""])
async def test_another_site_posts_nothing(
    visitor: httpx2.AsyncClient, tenant: factory.Tenant, site: str, rest: str
) -> None:
    path = await path_of(tenant, await tenant.card())
    answer = await visitor.post(path + rest, headers={"Sec-Fetch-Site": site, "Origin": "https://evil.test"}, json={})
    assert (answer.status_code, answer.json()["code"]) == (403, "cross_site")


async def test_nothing_may_be_kept_framed_or_sent_on(visitor: httpx2.AsyncClient, tenant: factory.Tenant) -> None:
    """Also of refusals: no cache, no referrer, no index, no frame, no cookie, no script from elsewhere."""
    path = await path_of(tenant, await tenant.card())
    for url in (path, path + "/state", path + "/nothing", "/c/" + new_token("a"), "/c/x", "/c/static/x/y.css"):
        for method in ("GET", "HEAD", "POST"):
            answer = await visitor.request(method, url)
            assert answer.headers["cache-control"] == "no-store"
            assert answer.headers["referrer-policy"] == "no-referrer"
            assert "noindex" in answer.headers["x-robots-tag"]
            assert "frame-ancestors 'none'" in answer.headers["content-security-policy"]
            assert "unsafe-" not in answer.headers["content-security-policy"]
            assert "etag" not in answer.headers
            assert "set-cookie" not in answer.headers


async def test_a_crowd_of_streams_is_bounded(behind_proxy: GatepassProcess, tenant: factory.Tenant) -> None:
    """One link, 200 streams: four are open, and the page still answers."""
    path = await path_of(tenant, await tenant.card())
    opened = [open_stream(behind_proxy.port, path + "/stream") for _ in range(200)]
    streams = await asyncio.gather(*(one.__aenter__() for one in opened))
    statuses = [stream.status for stream in streams]
    assert statuses.count(200) == 4
    assert set(statuses) == {200, 429}, "few of them look for the link at the same moment"
    async with httpx2.AsyncClient(base_url=behind_proxy.url) as client:
        other = await path_of(tenant, await tenant.card())
        assert (await client.get(other)).status_code == 200
    for one in opened:
        await one.__aexit__(None, None, None)
