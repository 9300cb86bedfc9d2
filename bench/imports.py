"""A million rows through the real studio and worker: rows a second, memory, and the longest stall of the progress.

    python -m bench.imports [--rows 1000000] [--undo] [--against 5a5fe53 --rounds 3]

The CSV file is generated while it is sent, so that this process does not hold it either. Another event is scanned at
the same time. With `--against` an earlier commit imports the same rows by its own code, in turn, before the table.
"""

import argparse
import asyncio
import time
from collections.abc import AsyncGenerator, Generator
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from pathlib import Path
from uuid import UUID

import httpx2
from rich.console import Console

from bench.console import wide_console
from bench.earlier import compare
from bench.report import empty_table
from bench.stack import migrated_database
from gatepass.base.database import Database
from gatepass.base.encryption import Vault, new_key
from gatepass.base.ids import new_id
from gatepass.domain import cards, events, imports, keys, maintenance, organizations, staff, tickets
from gatepass.domain.events import EventStatus
from gatepass.domain.imports import Import, ImportState
from gatepass.domain.keys import Mode, Scope
from gatepass.domain.staff import Role
from gatepass.studio.services.templates import root_of
from gatepass.studio.web import cookies
from tests.postgres import free_port
from tests.processes import GatepassProcess, launch_worker, serve

BY = "bench"
BOUNDARY = "gatepass-bench"
MOST_MEMORY = 150.0
LONGEST_STALL = 1.0
# Scans a second that run at the same time: the load of one busy gate, or of ten.
SCANS = 50
ROWS_A_CHUNK = 1_000


@dataclass
class Figures:
    """Memory is in megabytes above what the process had before, times are in seconds."""

    rows: int
    took: dict[str, float] = field(default_factory=dict[str, float])
    memory: dict[str, float] = field(default_factory=dict[str, float])
    stall: float = 0.0
    stalled_in: str = ""
    scans: list[float] = field(default_factory=list[float])
    faulty: int = 0
    made: int = 0

    def lines(self) -> Generator[str]:
        for process, grown in self.memory.items():
            yield f"memory of the {process}: {grown:.1f} MB more than before (at most {MOST_MEMORY:.0f})"
        yield f"longest stall of the progress: {self.stall:.2f} s while {self.stalled_in} (at most {LONGEST_STALL})"
        if self.scans:
            slow = sorted(self.scans)
            yield (
                f"{len(slow):,} scans at the same time: median {slow[len(slow) // 2] * 1000:.1f} ms, "
                f"99th {slow[len(slow) * 99 // 100] * 1000:.1f} ms, slowest {slow[-1] * 1000:.0f} ms"
            )
        yield f"{self.made:,} tickets made, {self.faulty:,} rows failed"

    def show(self, console: Console) -> None:
        shown = empty_table(f"{self.rows:,} rows", "step", "rows a second", "seconds")
        for step, seconds in self.took.items():
            shown.add_row(step, f"{self.rows / seconds:,.0f}", f"{seconds:.1f}")
        console.print(shown)
        for line in self.lines():
            console.print(line, highlight=False)

    def is_good(self) -> bool:
        return max(self.memory.values()) < MOST_MEMORY and self.stall < LONGEST_STALL


@dataclass
class Setup:
    """An organization with two events, one for the import and one for scans, and an owner's session."""

    db: Database
    organization_id: UUID
    event_id: UUID
    scanned_event_id: UUID
    key: str
    session: str
    numbers: list[str]


async def prepare(url: str, vault: Vault, rows: int) -> Setup:
    db, now = Database(url, deadline=60), datetime.now(UTC)
    await maintenance.run_due(db, at=now)
    async with db.transaction() as tx:
        organization = await organizations.create(tx, "Bench", at=now)
        await cards.rotate(tx, organization.id, vault, by=BY, at=now)
        key = await keys.issue(
            tx, organization.id, "gate", Mode.LIVE, [Scope.TICKETS_ACTIVATE], cell="a", by=BY, at=now,
            rate_per_second=10_000, burst=10_000,
        )  # fmt: skip
        person = await staff.enrol(tx, "bench@example.org", "Bench", at=now)
        await staff.join(tx, organization.id, person.id, Role.OWNER, by=BY, at=now)
        session = await staff.begin(tx, person.id, at=now, address=None, browser="bench", confirmed=True)
        ids: list[UUID] = []
        categories: list[UUID] = []
        for _ in range(2):
            ids.append(await events.create(tx, organization.id, "Bench", now, now + timedelta(hours=9), by=BY, at=now))
            categories.append(
                await events.add_category(
                    tx, organization.id, ids[-1], "General", Decimal(9), "EUR", rows, by=BY, at=now
                )
            )
            await events.change_status(tx, organization.id, ids[-1], EventStatus.PUBLISHED, by=BY, at=now)
        loaded = await tickets.load(
            tx, organization.id, ids[1], [categories[1]], min(20_000, rows), prefix="SVC", at=now
        )
    numbers = [one.card_number for one in loaded]
    return Setup(db, organization.id, ids[0], ids[1], key.text, session, numbers)


async def csv_rows(rows: int) -> AsyncGenerator[bytes, None]:
    yield (
        f'--{BOUNDARY}\r\nContent-Disposition: form-data; name="upload_key"\r\n\r\n{new_id()}\r\n'
        f'--{BOUNDARY}\r\nContent-Disposition: form-data; name="file"; filename="guests.csv"\r\n'
        "Content-Type: text/csv\r\n\r\nName,E-mail,Category,Order\r\n"
    ).encode()
    for first in range(0, rows, ROWS_A_CHUNK):
        numbers = range(first, min(first + ROWS_A_CHUNK, rows))
        yield "".join(f"Guest Number {n},guest{n}@example.org,General,ORDER-{n:08}\r\n" for n in numbers).encode()
    yield f"\r\n--{BOUNDARY}--\r\n".encode()


def client_of(server: GatepassProcess, setup: Setup) -> httpx2.AsyncClient:
    return httpx2.AsyncClient(
        base_url=server.url,
        timeout=600,
        headers={"Sec-Fetch-Site": "same-origin", "Cookie": f"{cookies.SESSION}={setup.session}"},
    )


class ProgressWatcher:
    """Reads the import's row and the memory of the processes up to 20 times a second."""

    def __init__(self, setup: Setup, processes: dict[str, GatepassProcess], figures: Figures) -> None:
        self._setup = setup
        self._processes = processes
        self._figures = figures
        self._before = {name: resident(process) for name, process in processes.items()}

    async def watch(self) -> None:
        seen: tuple[object, ...] = ()
        moved_at = time.monotonic()
        while True:
            job = await newest_import(self._setup)
            now = time.monotonic()
            marks = (job.state, job.row_count, job.reached, job.tickets_made) if job else ()
            if marks != seen:
                seen, moved_at = marks, now
            elif job and job.state.is_under_way and now - moved_at > self._figures.stall:
                self._figures.stall, self._figures.stalled_in = now - moved_at, job.state
            elif not (job and job.state.is_under_way):
                moved_at = now
            for name, process in self._processes.items():
                grown = resident(process) - self._before[name]
                self._figures.memory[name] = max(self._figures.memory.get(name, 0.0), grown)
            await asyncio.sleep(0.05)


async def newest_import(setup: Setup) -> Import | None:
    async with setup.db.autocommit() as tx:
        found = await imports.of_event(tx, setup.organization_id, setup.event_id, limit=1)
    return found[0] if found else None


def resident(process: GatepassProcess) -> float:
    """Megabytes that the process has in memory."""
    status = Path(f"/proc/{process.process.pid}/status").read_text()
    return int(status.partition("VmRSS:")[2].split()[0]) / 1024


async def scan(server: GatepassProcess, setup: Setup, figures: Figures) -> None:
    async with server.client(setup.key) as gate:
        for number in setup.numbers:
            began = time.monotonic()
            answer = await gate.post("/scan", json={"event_id": str(setup.scanned_event_id), "card_number": number})
            assert answer.status_code == 200, answer.text
            figures.scans.append(time.monotonic() - began)
            await asyncio.sleep(max(0.0, 1 / SCANS - (time.monotonic() - began)))


async def wait_until(setup: Setup, state: ImportState) -> None:
    while (job := await newest_import(setup)) is None or job.state is not state:  # noqa: ASYNC110  another process's
        await asyncio.sleep(0.05)


async def import_all(client: httpx2.AsyncClient, setup: Setup, figures: Figures, *, undo: bool) -> None:
    root = f"{root_of(setup.organization_id, 'live')}/events/{setup.event_id}/imports"
    with timed(figures, "receiving"):
        kind = {"Content-Type": f"multipart/form-data; boundary={BOUNDARY}"}
        answer = await client.post(root, content=csv_rows(figures.rows), headers=kind)
        assert answer.status_code == 303, answer.text
    here = answer.headers["location"]
    columns = {f"column-{n}": field for n, field in enumerate(("name", "email", "category", "reference"))}
    with timed(figures, "checking"):
        assert (await client.post(f"{here}/columns", data=columns)).status_code == 303
        await wait_until(setup, ImportState.CHECKED)
    with timed(figures, "applying"):
        assert (await client.post(f"{here}/apply")).status_code == 303
        await wait_until(setup, ImportState.DONE)
    done = await newest_import(setup)
    assert done
    figures.made, figures.faulty = done.tickets_made, done.faulty
    if undo:
        with timed(figures, "undoing"):
            assert (await client.post(f"{here}/undo", data={"reason": "bench"})).status_code == 303
            await wait_until(setup, ImportState.UNDONE)


@contextmanager
def timed(figures: Figures, step: str) -> Generator[None]:
    began = time.monotonic()
    yield
    figures.took[step] = time.monotonic() - began
    print(f"  {step}: {figures.took[step]:.1f} s", flush=True)


async def measure(url: str, rows: int, *, undo: bool = False) -> Figures:
    key, port = new_key(), free_port()
    environment = {
        "GATEPASS_DATABASE_URL": url,
        "GATEPASS_ENCRYPTION_KEYS": key,
        "GATEPASS_METRICS_PORT": "0",
        "GATEPASS_LOG_LEVEL": "warning",
    }
    setup, figures = await prepare(url, Vault([key]), rows), Figures(rows)
    server, worker = serve(environment, port), launch_worker(environment)
    try:
        async with client_of(server, setup) as client:
            # The first page loads templates and caches, which are not counted.
            assert (await client.get(f"{root_of(setup.organization_id, 'live')}/cards")).status_code == 200
            await asyncio.sleep(2)
            watcher = ProgressWatcher(setup, {"studio": server, "worker": worker}, figures)
            background = [
                asyncio.create_task(watcher.watch()),
                asyncio.create_task(scan(server, setup, figures)),
            ]
            await import_all(client, setup, figures, undo=undo)
            for task in background:
                task.cancel()
            await asyncio.gather(*background, return_exceptions=True)
    finally:
        worker.stop()
        server.stop()
        await setup.db.close()
    return figures


def main() -> None:
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("--rows", type=int, default=1_000_000)
    arguments.add_argument("--postgres", type=int, default=18)
    arguments.add_argument("--undo", action="store_true", help="undo the import at the end, and measure that too")
    arguments.add_argument("--against", metavar="COMMIT", help="first compare with this commit, in turn")
    arguments.add_argument("--against-rows", type=int, default=100_000, help="in each round of the comparison")
    arguments.add_argument("--rounds", type=int, default=3, help="of the comparison")
    options = arguments.parse_args()
    ratio = None
    if options.against:
        ratio = compare(options.against, options.against_rows, options.rounds, wide_console())
        wide_console().print(ratio.text())
    if not options.rows:
        raise SystemExit(0 if ratio is None or ratio.reaches() else "below what is wanted")
    with migrated_database(options.postgres) as (_, url):
        figures = asyncio.run(measure(url, options.rows, undo=options.undo))
    figures.show(wide_console())
    good = figures.is_good() and (ratio is None or ratio.reaches())
    raise SystemExit(0 if good else "over the limits")


if __name__ == "__main__":
    main()
