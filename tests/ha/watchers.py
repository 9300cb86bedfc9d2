"""Watchers beside the gates: is each API ready, does its process answer at all, and what does the feed tell."""

import asyncio
import itertools
from collections.abc import Awaitable, Callable, Iterator
from dataclasses import dataclass, field

import httpx2

from gatepass_sdk import AsyncGatepass, GatepassError
from gatepass_sdk.webhooks import TicketActivated
from tests.ha.journal import FeedPage, JournalWriter, Readiness, Silence, clock

EVERY = 0.1
# A process that answers /livez later than this is starved, frozen or dead. Less is noise, which the judge allows for.
PROMPT = 0.25
# A caller that checks the health of a process does not wait longer; no answer is as bad as a red one.
READY_WITHIN = 2.0
ALIVE_WITHIN = 1.0
FEED_EVERY = 0.2
FEED_PAGE = 100


async def watch_readiness(name: str, url: str, journal: JournalWriter) -> None:
    """Poll /readyz until cancelled; write each answer that differs from the one before."""
    before: int | str | None = "not asked yet"
    async with httpx2.AsyncClient(base_url=url, timeout=READY_WITHIN, mounts={"http://": None}) as http:

        async def poll(_: float) -> None:
            nonlocal before
            begin = clock()
            status, reason = await _answer(http, "/readyz", READY_WITHIN)
            if status != before:
                journal.write(Readiness(name, begin, clock(), status, reason))
                before = status

        await _poll_forever(poll)


async def watch_liveness(name: str, url: str, journal: JournalWriter) -> None:
    """Poll /livez until cancelled; write each answer that was not prompt, from the time that it was due to be asked."""
    async with httpx2.AsyncClient(base_url=url, timeout=ALIVE_WITHIN, mounts={"http://": None}) as http:

        async def poll(due: float) -> None:
            status, _ = await _answer(http, "/livez", ALIVE_WITHIN)
            if status != 200 or clock() - due > PROMPT:
                journal.write(Silence(name, due, clock()))

        await _poll_forever(poll)


async def _poll_forever(poll: Callable[[float], Awaitable[None]]) -> None:
    due = clock()
    while True:
        await asyncio.sleep(due - clock())
        await poll(due)
        due = max(due + EVERY, clock())


async def _answer(http: httpx2.AsyncClient, path: str, within: float) -> tuple[int | None, str]:
    try:
        async with asyncio.timeout(within):
            response = await http.get(path)
    except (httpx2.TransportError, TimeoutError) as failure:
        return None, type(failure).__name__
    return response.status_code, "" if response.status_code == 200 else response.text[:200]


@dataclass
class FeedReader:
    """Follows the feed by its cursor, each page from the next API in turn."""

    clients: dict[str, AsyncGatepass]
    journal: JournalWriter
    cursor: str | None
    tickets: set[str] = field(default_factory=set[str])

    async def follow(self) -> None:
        """Read until cancelled."""
        names = itertools.cycle(self.clients)
        while True:
            if not await self._page(names):
                await asyncio.sleep(FEED_EVERY)

    async def until_told(self, tickets: set[str]) -> None:
        """Wait until `follow` has read that these tickets were activated."""
        while not tickets <= self.tickets:  # noqa: ASYNC110  it is the other task that we wait for
            await asyncio.sleep(FEED_EVERY)

    async def _page(self, names: Iterator[str]) -> bool:
        """Read a page; whether there are more."""
        name = next(names)
        try:
            page = await self.clients[name].webhook_events.list(after=self.cursor, limit=FEED_PAGE).first()
        except GatepassError:  # the journal has its attempts
            return False
        if page.data:
            self.cursor = page.next_cursor
            self.journal.write(FeedPage(clock(), name, [one.id for one in page.data], self.cursor))
            self.tickets |= {one.data.ticket_id for one in page.data if isinstance(one, TicketActivated)}
        elif page.next_cursor is not None:
            self.cursor = page.next_cursor
        return page.has_more
