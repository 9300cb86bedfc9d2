"""The sender of letters: claims those that are due, sends them over a few connections, and records what became of them.

Any number of workers may do so side by side. The claims of one that is killed lapse (`domain/mail/queue.py`).
"""

import asyncio
import time
from collections.abc import Sequence
from contextlib import suppress
from typing import Final
from uuid import UUID

import msgspec

from gatepass.base.batcher import Batcher
from gatepass.base.clock import Clock
from gatepass.base.database import Database
from gatepass.base.encryption import Vault, VaultLocked
from gatepass.base.errors import NotNow
from gatepass.base.log import logger
from gatepass.base.settings import Settings
from gatepass.domain.mail import domain_of, queue, rendered, smtp_server, values_context
from gatepass.domain.mail.message import Sender
from gatepass.domain.mail.queue import RENEWED_EVERY, Claimed, LetterState, Result, again_in
from gatepass.worker.mail.connection import Answer, Connection, Outcome, ServerAway
from gatepass.worker.mail.domain_rate import DomainRate
from gatepass.worker.mail.metrics import MailMetrics

# Claimed letters for each connection. More of them cost fewer claims, and leave more in doubt when a worker is killed.
AHEAD: Final = 12
IDLE_SECONDS: Final = 0.3
# Between claims of a busy worker, unless half of its letters have ended: small claims cost as much as large ones.
BUSY_SECONDS: Final = 0.25
# A connection without a letter for so long is closed: many servers close it after a minute.
IDLE_CONNECTION: Final = 20.0
RETRY_SECONDS: Final = 0.5
# Seconds between two tries to reach a mail server that is away: the first and the longest.
AWAY_FIRST: Final = 1.0
AWAY_LONGEST: Final = 60.0
# And a single connection's, when the server refuses it and serves others.
OWN_REST: Final = 5.0
# Seconds for the letters that are being sent when the worker stops. After that their claims lapse.
STOP_WITHIN: Final = 10.0
RECORDED_AT_ONCE: Final = 256
RECORDED_APART: Final = 0.05
# A letter whose values no key opens waits for the operator to configure the key.
UNREADABLE_SECONDS: Final = 600.0

log = logger(__name__)


class LetterSender:
    def __init__(self, db: Database, settings: Settings, metrics: MailMetrics, clock: Clock) -> None:
        assert settings.smtp_url is not None  # noqa: S101  the worker makes a sender only with a server
        assert settings.mail_from is not None  # noqa: S101  the settings want one with a server
        self._db = db
        self._metrics = metrics
        self._clock = clock
        self._vault: Vault = settings.vault()
        self._server = smtp_server(settings.smtp_url.get_secret_value())
        self._sender = Sender(settings.mail_from)
        self._rate = DomainRate(settings.mail_domain_rate, time.monotonic)
        self._connections = settings.mail_connections
        self._queue: asyncio.Queue[Claimed] = asyncio.Queue()
        self._in_hand: dict[UUID, Claimed] = {}
        self._results: Batcher[Result, None] = Batcher(
            self._record, batch=RECORDED_AT_ONCE, flights=2, apart=RECORDED_APART
        )
        self._stopping = asyncio.Event()
        self._room = asyncio.Event()
        self._away_seconds = 0.0
        self._away_until = 0.0
        self._worked_at = float("-inf")

    def stop(self) -> None:
        """Claim nothing more, end what is being sent, and give the rest back."""
        self._stopping.set()
        self._room.set()

    async def run(self) -> None:
        sending = [asyncio.create_task(self._keep_sending()) for _ in range(self._connections)]
        renewing = asyncio.create_task(self._keep_renewing())
        try:
            await self._keep_claiming()
            while not self._queue.empty():
                self._give_back(self._queue.get_nowait())
            await asyncio.wait(sending, timeout=STOP_WITHIN)
            await self._results.drain()
        finally:
            for task in (*sending, renewing):
                task.cancel()
            await asyncio.gather(*sending, renewing, return_exceptions=True)

    async def _keep_claiming(self) -> None:
        while not self._stopping.is_set():
            self._room.clear()
            try:
                found = await self._claim()
            except NotNow:
                found = 0
            except Exception:
                found = 0
                log.exception("claim of letters failed")
            await self._wait(BUSY_SECONDS if found or self._in_hand else IDLE_SECONDS)

    async def _wait(self, seconds: float) -> None:
        """Wait this long, or until there is room. While the mail server is away, wait for that first."""
        away = self._away_until - time.monotonic()
        if away > 0:
            with suppress(TimeoutError):
                await asyncio.wait_for(self._stopping.wait(), away)
        with suppress(TimeoutError):
            await asyncio.wait_for(self._room.wait(), seconds)

    async def _claim(self) -> int:
        most = AHEAD * self._connections - len(self._in_hand)
        if most <= 0 or time.monotonic() < self._away_until:
            return 0
        async with self._db.autocommit(writes=True) as tx:
            # One letter shows whether a server that was away is back.
            claimed = await queue.claim(tx, 1 if self._away_seconds else most)
        for one in claimed:
            self._in_hand[one.id] = one
            if one.lapsed:
                self._metrics.doubtful.inc()
            self._queue.put_nowait(one)
        return len(claimed)

    async def _keep_renewing(self) -> None:
        while True:
            await asyncio.sleep(RENEWED_EVERY)
            if self._in_hand:
                with suppress(NotNow):
                    async with self._db.autocommit(writes=True) as tx:
                        await queue.renew(tx, list(self._in_hand.values()))

    async def _keep_sending(self) -> None:
        """Send one letter after another over one connection, until the worker stops."""
        connection = Connection(self._server, self._sender.address)
        stopping = asyncio.create_task(self._stopping.wait())
        try:
            while not self._stopping.is_set():
                letter = await self._next(stopping)
                if letter is None:
                    await connection.close()
                else:
                    await self._send(connection, letter)
        finally:
            stopping.cancel()
            await connection.close()

    async def _send(self, connection: Connection, letter: Claimed) -> None:
        try:
            self._end(await self._sent(connection, letter))
        except ServerAway as away:
            self._end(self._server_away(letter, str(away)))
            rest = max(self._away_until - time.monotonic(), OWN_REST)
            with suppress(TimeoutError):
                await asyncio.wait_for(self._stopping.wait(), rest)

    async def _next(self, stopping: "asyncio.Task[bool]") -> Claimed | None:
        """The next letter; None if there is none for a while, or the worker stops."""
        if not self._queue.empty():
            return self._queue.get_nowait()
        getting = asyncio.create_task(self._queue.get())
        await asyncio.wait((getting, stopping), timeout=IDLE_CONNECTION, return_when=asyncio.FIRST_COMPLETED)
        if getting.done():
            return getting.result()
        getting.cancel()
        return None

    async def _sent(self, connection: Connection, letter: Claimed) -> Result:
        now = self._clock()
        if letter.expires_at <= now:
            self._metrics.attempts.labels("expired").inc()
            return Result(letter, LetterState.EXPIRED)
        wait = self._rate.wait(domain_of(letter.address), put_off_before=letter.attempt > 1)
        if wait:
            return Result(letter, LetterState.WAITING, again=wait)
        try:
            message = self._message(letter)
        except VaultLocked:
            self._metrics.attempts.labels("unreadable").inc()
            return Result(letter, LetterState.WAITING, "no encryption key opens its values", again=UNREADABLE_SECONDS)
        try:
            answer = await connection.send(letter.address, message)
        except ServerAway:
            raise
        except Exception:
            log.exception("a letter could not be sent", letter=str(letter.id), kind=letter.kind)
            answer = Answer(Outcome.DROPPED, "internal error", doubtful=True)
        self._server_back()
        return self._result(letter, answer)

    def _message(self, letter: Claimed) -> bytes:
        opened = self._vault.open(letter.sealed_values, values_context(letter.organization_id, letter.id))
        values = msgspec.json.decode(opened, type=dict[str, str])
        text = rendered(letter.kind, letter.language, values)
        return self._sender.message(letter.id, letter.address, text, at=letter.written_at)

    def _result(self, letter: Claimed, answer: Answer) -> Result:
        self._metrics.attempts.labels(answer.outcome).inc()
        if answer.doubtful:
            self._metrics.doubtful.inc()
        match answer.outcome:
            case Outcome.SENT:
                self._metrics.sent_after.observe((self._clock() - letter.written_at).total_seconds())
                return Result(letter, LetterState.SENT, answer.words)
            case Outcome.REFUSED:
                return Result(letter, LetterState.REFUSED, answer.words)
            case Outcome.PUT_OFF | Outcome.DROPPED:
                again = again_in(letter.tries, dropped=answer.outcome is Outcome.DROPPED)
                return Result(
                    letter, LetterState.WAITING, answer.words, again=again, tried=True, doubtful=answer.doubtful
                )

    def _server_away(self, letter: Claimed, reason: str) -> Result:
        """Nothing is claimed for a while, longer each time. That is not held against the letters.

        If another connection works, the server only wants fewer of them.
        """
        now = time.monotonic()
        if now - self._worked_at < OWN_REST:
            return given_back(letter)
        if now >= self._away_until:
            self._away_seconds = min(AWAY_LONGEST, self._away_seconds * 2 or AWAY_FIRST)
            self._away_until = now + self._away_seconds
            log.warning("the mail server cannot be used", reason=reason, seconds=self._away_seconds)
        self._metrics.server_up.set(0)
        return given_back(letter, f"the mail server: {reason}")

    def _server_back(self) -> None:
        if self._away_seconds:
            log.info("the mail server is back")
        self._away_seconds = self._away_until = 0.0
        self._worked_at = time.monotonic()
        self._metrics.server_up.set(1)

    def _give_back(self, letter: Claimed) -> None:
        self._end(given_back(letter))

    def _end(self, result: Result) -> None:
        self._results.add(result).add_done_callback(lambda written: self._ended(result.claimed, written))

    def _ended(self, letter: Claimed, written: "asyncio.Future[None]") -> None:
        self._in_hand.pop(letter.id, None)
        if len(self._in_hand) <= AHEAD * self._connections // 2:
            self._room.set()
        if not written.cancelled() and (error := written.exception()):
            log.error("what became of a letter cannot be recorded", letter=str(letter.id), exc_info=error)

    async def _record(self, results: Sequence[Result]) -> Sequence[None]:
        """Write results. While the database is away they are tried again: nobody else can claim their letters then."""
        while True:
            try:
                async with self._db.autocommit(writes=True) as tx:
                    await queue.record(tx, results)
                break
            except NotNow:
                if self._stopping.is_set():
                    break  # the claims lapse
                await asyncio.sleep(RETRY_SECONDS)
        return [None] * len(results)


def given_back(letter: Claimed, answer: str | None = None) -> Result:
    """It was not tried: it is due since when it was."""
    return Result(letter, LetterState.WAITING, answer, again=-letter.due_seconds)
