"""Several hosts in one URL: a dead or frozen one, a standby, a primary on which nothing ends."""

import asyncio
import socket
import time
from collections.abc import Generator

import asyncpg
import pytest

from gatepass.base.commit_probe import READ_ONLY
from gatepass.base.database import Database
from gatepass.base.errors import Unavailable
from gatepass.base.postgres_hosts import CONNECT_WITHIN, Link, PostgresHosts, split
from tests.base.sessions import answers
from tests.postgres import Cluster, free_port, start_standby
from tests.postgres_proxy import Proxy
from tests.size import NIGHT


@pytest.fixture
def silent() -> Generator[int]:
    """A port where connections are accepted by the kernel, and nobody answers: a machine that froze."""
    with socket.create_server(("127.0.0.1", 0), backlog=64) as bound:
        yield bound.getsockname()[1]


@pytest.fixture(scope="module")
def standby(cluster: Cluster, url: str) -> Generator[int]:
    """The port of a standby of this server."""
    started = start_standby(cluster, "standby")
    yield started.port
    started.stop()


def both(url: str, first: int, second: int) -> str:
    """The URL with two hosts instead of its own."""
    before, _, rest = url.partition("@")
    return f"{before}@127.0.0.1:{first},127.0.0.1:{second}/{rest.partition('/')[2]}"


def port_of(link: Link) -> int:
    """The port that a connection goes to. asyncpg tells it to nobody else."""
    transport: asyncio.Transport = link._transport  # type: ignore[attr-defined]
    return transport.get_extra_info("peername")[1]


@pytest.mark.parametrize(
    ("url", "each"),
    [
        ("postgresql://a:b@one:1/db", ["postgresql://a:b@one:1/db"]),
        ("postgresql:///db?host=/tmp", ["postgresql:///db?host=/tmp"]),
        (
            "postgresql://a:b%40c@one:1,two:2/db?sslmode=verify-full",
            [
                "postgresql://a:b%40c@one:1/db?sslmode=verify-full&target_session_attrs=read-write",
                "postgresql://a:b%40c@two:2/db?sslmode=verify-full&target_session_attrs=read-write",
            ],
        ),
        (
            "postgresql://one,[::1]:2/db?target_session_attrs=any",
            ["postgresql://one/db?target_session_attrs=any", "postgresql://[::1]:2/db?target_session_attrs=any"],
        ),
    ],
)
def test_a_url_for_each_host(url: str, each: list[str]) -> None:
    assert split(url) == each


async def test_a_dead_first_host_delays_nobody(cluster: Cluster, url: str, silent: int) -> None:
    for first in (free_port(), silent):
        database = Database(both(url, first, cluster.port), connections=4, deadline=3)
        began = time.monotonic()
        assert all(await asyncio.gather(*(answers(database) for _ in range(4))))
        if NIGHT:
            assert time.monotonic() - began < CONNECT_WITHIN / 2
        await database.close()


async def test_a_single_host_that_is_silent_is_given_up_after_a_second(url: str, silent: int) -> None:
    database = Database(url.replace(url.partition("@")[2].partition("/")[0], f"127.0.0.1:{silent}"), deadline=3)
    began = time.monotonic()
    with pytest.raises(Unavailable):
        await answers(database)
    if NIGHT:
        assert time.monotonic() - began < CONNECT_WITHIN + 0.5


async def test_a_loss_closes_the_idle_connections_too(cluster: Cluster, url: str) -> None:
    """They lead to the same server: each would be another call lost."""
    proxy = Proxy()
    async with proxy.running(cluster.port):
        database = Database(proxy.url(url), connections=4, deadline=0.3)
        await asyncio.gather(*(answers(database) for _ in range(4)))
        proxy.freeze()
        with pytest.raises(Unavailable):
            await answers(database)
        proxy.cut()
        proxy.thaw()
        assert await answers(database)
        await database.close()


async def test_a_host_where_a_call_was_lost_is_the_second_choice(cluster: Cluster, url: str) -> None:
    first, second = Proxy(), Proxy()
    async with first.running(cluster.port), second.running(cluster.port):
        hosts = PostgresHosts(both(url, first.port, second.port), "test")
        link = await hosts.connect(1)
        lost = port_of(link)
        hosts.avoid(link)
        link.terminate()
        for _ in range(5):
            other = await hosts.connect(1)
            assert port_of(other) != lost
            other.terminate()


async def test_a_standby_is_passed_over_whichever_answers_first(cluster: Cluster, url: str, standby: int) -> None:
    for first, second in ((standby, cluster.port), (cluster.port, standby)):
        hosts = PostgresHosts(both(url, first, second), "test")
        for _ in range(20):
            link = await hosts.connect(1)
            assert port_of(link) == cluster.port
            link.terminate()


async def test_with_standbys_alone_nothing_is_served(url: str, standby: int) -> None:
    database = Database(both(url, standby, free_port()), deadline=3)
    with pytest.raises(Unavailable) as refusal:
        await answers(database)
    assert refusal.value.cause == "read_only"
    assert await database.commits.probe.trouble() == READ_ONLY
    await database.close()


async def test_with_all_hosts_gone_the_error_is_theirs(silent: int, url: str) -> None:
    hosts = PostgresHosts(both(url, free_port(), silent), "test")
    with pytest.raises((OSError, TimeoutError, asyncpg.PostgresError)):
        await hosts.connect(0.2)
