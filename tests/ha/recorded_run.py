"""A short real run, for the tests of the judge: recorded once, then copied and spoiled in many ways."""

import asyncio
import json
from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Self

import psycopg
from aiohttp import web

from gatepass.base.ids import new_id, request_id, request_text
from gatepass.worker.worker import Worker
from tests import factory
from tests.ha import load, world
from tests.ha.journal import Attempt, Ended, JournalWriter, Outcome, Readiness, Record, Scan, T, record_of
from tests.ha.receiver import Receiver
from tests.postgres import Cluster, free_port
from tests.processes import launch, wait_until_ready

TICKETS = 2_000
GATES = 12
RATE = 150.0
SCANS = 200


async def record(database_url: str, folder: Path) -> None:
    """An API process under two names, a worker and a receiver; at the end all of them are stopped."""
    environment = {
        "GATEPASS_DATABASE_URL": database_url,
        "GATEPASS_ENCRYPTION_KEYS": factory.KEY,
        "GATEPASS_METRICS_PORT": "0",
        "GATEPASS_LOG_LEVEL": "warning",
    }
    port = free_port()
    server = launch(environment, free_port(), "--only", "api")
    try:
        db = factory.database(database_url)
        made = await world.create(db, factory.VAULT, count=TICKETS, receiver_url=f"http://127.0.0.1:{port}/hook")
        await db.close()
        made.write(folder / "world.json")
        await asyncio.to_thread(wait_until_ready, server)
        urls = {"north": server.url, "south": server.url}
        config = load.Config(folder / "world.json", folder / "journal.jsonl", urls, gates=GATES, rate=RATE)
        async with _receiving(port, made.secret, folder / "received.jsonl"), _working(database_url):
            over = asyncio.Event()
            running = asyncio.create_task(load.run(config, over))
            await _until(lambda: len(RecordedRun.read(folder).every(Outcome)) >= SCANS)
            over.set()
            await running
            expected = {one.key for one in RecordedRun.read(folder).every(Attempt) if one.key and one.status == 200}
            await _until(lambda: len(RecordedRun.read(folder).received) >= len(expected))
    finally:
        server.stop()


@asynccontextmanager
async def _receiving(port: int, secret: str, out: Path) -> AsyncGenerator[None]:
    receiver = Receiver(secret, out)
    app = web.Application()
    app.router.add_post("/hook", receiver.take)
    runner = web.AppRunner(app)
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", port).start()
    yield
    await runner.cleanup()
    receiver.close()


@asynccontextmanager
async def _working(database_url: str) -> AsyncGenerator[None]:
    worker = Worker(factory.settings(database_url, webhook_allow_private=True))
    task = asyncio.create_task(worker.run())
    yield
    worker.stop()
    await task


async def _until(condition: Callable[[], bool]) -> None:
    async with asyncio.timeout(60):
        while not condition():  # noqa: ASYNC110  it is a file that we wait for
            await asyncio.sleep(0.05)


@dataclass
class RecordedRun:
    """The lines of a journal and of a receiver, and statements that will spoil the database."""

    records: list[Record]
    received: list[dict[str, Any]]
    statements: list[tuple[str, list[Any]]] = field(default_factory=list[tuple[str, list[Any]]])

    @classmethod
    def read(cls, folder: Path) -> Self:
        journal, received = (_lines(folder / name) for name in ("journal.jsonl", "received.jsonl"))
        return cls([record_of(line) for line in journal], received)

    def write(self, folder: Path) -> None:
        journal = JournalWriter(folder / "journal.jsonl")
        for one in self.records:
            journal.write(one)
        journal.close()
        (folder / "received.jsonl").write_text("".join(json.dumps(one) + "\n" for one in self.received))

    def every(self, kind: type[T]) -> list[T]:
        return [one for one in self.records if isinstance(one, kind)]

    @property
    def ends(self) -> float:
        return self.every(Ended)[0].at

    def answer(self, status: int, *, replayed: bool = False) -> Attempt:
        """The first answer to a scan with this status."""
        return next(one for one in self.every(Attempt) if one.key and (one.status, one.replayed) == (status, replayed))

    def contested(self) -> Attempt:
        """An activation whose ticket was refused to another gate."""
        cards = {scan.key: scan.card for scan in self.every(Scan)}
        refused = {cards[one.key] for one in self.every(Attempt) if one.key and one.status == 409}
        return next(
            one
            for one in self.every(Attempt)
            if one.key and one.status == 200 and not one.replayed and cards[one.key] in refused
        )

    def change(self, record: Record, **fields: Any) -> None:
        at = next(n for n, one in enumerate(self.records) if one is record)
        self.records[at] = replace(record, **fields)

    def forget(self, *records: Record) -> None:
        self.records = [one for one in self.records if not any(one is gone for gone in records)]

    def run(self, statement: str, *values: Any) -> None:
        self.statements.append((statement, list(values)))

    def spoil_copy(self, cluster: Cluster, name: str) -> str:
        """The URL of a copy of the database, with the statements run."""
        with psycopg.connect(cluster.url(), autocommit=True) as connection:
            connection.execute(f"DROP DATABASE IF EXISTS {name}_spoiled")  # pyright: ignore[reportArgumentType, reportCallIssue]
            connection.execute(f"CREATE DATABASE {name}_spoiled TEMPLATE {name}")  # pyright: ignore[reportArgumentType, reportCallIssue]
        url = cluster.url(f"{name}_spoiled")
        with psycopg.connect(url) as connection:
            for statement, values in self.statements:
                assert connection.execute(statement, values).rowcount > 0, statement  # pyright: ignore[reportArgumentType]
        return url

    def scans(self, begin: float, seconds: float, *, succeed: bool, every: float = 0.1) -> None:
        """One scan again and again at the first URL, from so many seconds after the end of the run."""
        first = self.answer(200)
        for n in range(round(seconds / every)):
            at, id = self.ends + begin + n * every, new_id()
            one = replace(
                first, url="north", begin=at, end=at + every / 2, request_id=request_text(id), replayed=succeed
            )
            if succeed:
                self.run(LOG_AGAIN, id, request_id(first.request_id or ""))
            else:
                one = replace(one, status=503, code="unavailable", body='{"code": "unavailable"}')
            self.records.append(one)

    def readyz(self, *answers: tuple[float, int | None]) -> None:
        """Answers at the first URL, so many seconds after the end of the run. The watch lasts ten seconds more."""
        for at, status in answers:
            self.records.append(Readiness("north", self.ends + at, self.ends + at, status))
        self.change(self.every(Ended)[0], at=self.ends + 10)


def _lines(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text().splitlines()] if path.exists() else []


LOG_AGAIN = """
    INSERT INTO request_log (organization_id, at, id, mode, key_id, method, path, status, duration_us, card_id)
    SELECT organization_id, at, %s, mode, key_id, method, path, status, duration_us, card_id
      FROM logged_call
     WHERE id = %s
"""
