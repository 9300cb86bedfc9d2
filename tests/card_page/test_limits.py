"""Limits of card pages: by link, by address, and for links that do not exist."""

from contextlib import ExitStack
from dataclasses import dataclass
from ipaddress import ip_address

import httpx2

from gatepass.card_page.limits import BY_ADDRESS, BY_LINK, MOST_AT_ONCE, UNKNOWN, Limit, VisitLimits
from gatepass.card_page.middleware import Middleware
from gatepass.domain.cell import new_token
from tests import factory
from tests.card_page.links import path_of

HERE, ELSEWHERE = ip_address("192.0.2.1"), ip_address("198.51.100.7")
SEEN, UNSEEN = b"s" * 32, b"u" * 32


@dataclass
class Time:
    now: float = 1000.0

    def __call__(self) -> float:
        return self.now


def test_a_link_that_is_opened_too_often_waits() -> None:
    time = Time()
    limits = VisitLimits(time)
    limits.found(SEEN)
    assert [limits.visit(HERE, SEEN) for _ in range(BY_LINK.burst + 1)] == [None] * BY_LINK.burst + [Limit.LINK]
    assert limits.visit(HERE, UNSEEN) is None
    assert limits.visit(ELSEWHERE, SEEN) is None, "its holder has another network"
    time.now += 1
    assert limits.visit(HERE, SEEN) is None
    assert limits.visit(HERE, SEEN) is Limit.LINK


def test_one_link_is_not_looked_up_too_often_at_the_same_moment() -> None:
    limits = VisitLimits(Time())
    with ExitStack() as lookups:
        for _ in range(MOST_AT_ONCE):
            assert limits.visit(HERE, SEEN) is None
            lookups.enter_context(limits.looking_up(SEEN))
        assert limits.visit(HERE, SEEN) is Limit.LINK
        assert limits.visit(HERE, UNSEEN) is None
    assert limits.visit(HERE, SEEN) is None


def test_an_address_has_its_own_limit() -> None:
    limits = VisitLimits(Time())
    visits = [limits.visit(HERE, n.to_bytes(32)) for n in range(BY_ADDRESS.burst + 1)]
    assert visits == [None] * BY_ADDRESS.burst + [Limit.ADDRESS]
    assert limits.visit(ELSEWHERE, SEEN) is None


def test_who_guesses_is_refused_and_not_their_neighbour() -> None:
    time = Time()
    limits = VisitLimits(time)
    limits.found(SEEN)
    for _ in range(UNKNOWN.burst):
        assert limits.visit(HERE, UNSEEN) is None
        limits.unknown(HERE)
    assert limits.visit(HERE, UNSEEN) is Limit.UNKNOWN
    # Somebody else behind the same address still sees their card.
    assert limits.visit(HERE, SEEN) is None
    assert limits.visit(ELSEWHERE, UNSEEN) is None
    time.now += 1 / UNKNOWN.per_second
    assert limits.visit(HERE, UNSEEN) is None
    limits.unknown(HERE)
    assert limits.visit(HERE, UNSEEN) is Limit.UNKNOWN


def test_neighbours_in_an_ipv6_network_are_one_caller() -> None:
    limits = VisitLimits(Time())
    for n in range(UNKNOWN.burst):
        limits.unknown(ip_address(f"2001:db8::{n:x}"))
    assert limits.visit(ip_address("2001:db8::ffff"), UNSEEN) is Limit.UNKNOWN
    assert limits.visit(ip_address("2001:db8:1::1"), UNSEEN) is None


async def test_guesses_are_answered_with_429(
    tenant: factory.Tenant, pages: Middleware, visitor: httpx2.AsyncClient
) -> None:
    pages.pages.limits = VisitLimits(Time())
    path = await path_of(tenant, await tenant.card())
    assert (await visitor.get(path)).status_code == 200
    statuses = [(await visitor.get("/c/" + new_token("a"))).status_code for _ in range(UNKNOWN.burst + 5)]
    assert statuses == [404] * UNKNOWN.burst + [429] * 5
    refused = await visitor.get(f"/c/{new_token('a')}/state")
    assert (refused.status_code, refused.json()["code"]) == (429, "rate_limited")
    assert int(refused.headers["retry-after"]) >= 1
    assert (await visitor.get(path)).status_code == 200
