"""Letters a second: a worker against a bare aiosmtplib loop to the same server, over as many connections.

Both are processes of their own, and so is the server. The clock runs from the first letter taken to the last.
"""

import argparse
import asyncio
import multiprocessing
import tempfile
import time
from pathlib import Path
from typing import Final
from uuid import UUID

from aiosmtplib import SMTP

from gatepass.base.database import Database
from gatepass.base.ids import new_id
from gatepass.base.language import Language
from gatepass.domain import maintenance
from gatepass.domain.mail import LetterKind, Mailer, NewLetter, rendered
from gatepass.domain.mail.message import Sender
from gatepass.migrations import runner
from tests import factory
from tests.mail_server import MailServer, mail_server
from tests.postgres import start_cluster
from tests.processes import launch_worker

WANTED: Final = 0.5
VALUES: Final = {
    "event": "Summer Opening", "name": "Ada", "organizer": "Harbour Nights", "when": "Saturday 21 November 2026, 19:30",
    "where": "Hall 1, Brussels", "number": "SVC 1234 5678 9012", "link": "https://gatepass.test/c/a." + "x" * 43,
}  # fmt: skip
WITHIN: Final = 600.0


async def _bare(port: int, letters: int, connections: int) -> None:
    text = rendered(LetterKind.CARD, Language.ENGLISH, VALUES)
    message = Sender("Gatepass <cards@gatepass.test>").message(new_id(), "a@b.example", text, at=factory.now())

    async def send() -> None:
        smtp = SMTP(hostname="127.0.0.1", port=port, start_tls=False)
        await smtp.connect()
        for n in range(letters // connections):
            await smtp.sendmail("cards@gatepass.test", [f"guest{n}@d{n % 500}.example"], message)
        await smtp.quit()

    await asyncio.gather(*(send() for _ in range(connections)))


def bare(port: int, letters: int, connections: int) -> None:
    import uvloop  # noqa: PLC0415  the worker runs on it too

    uvloop.run(_bare(port, letters, connections))


def rate(server: MailServer, letters: int) -> float:
    """Letters a second that the server takes, until it has taken so many."""
    deadline = time.monotonic() + WITHIN
    while not (before := _taken(server)):
        _require(deadline)
    began = time.monotonic()
    while (after := _taken(server)) < letters:
        _require(deadline)
    return (after - before) / (time.monotonic() - began)


def _taken(server: MailServer) -> int:
    time.sleep(0.02)
    return server.path.read_bytes().count(b"\n")


def _require(deadline: float) -> None:
    if time.monotonic() > deadline:
        raise SystemExit("the letters were not sent in time")


async def write(db: Database, organization_id: UUID, letters: int) -> None:
    mailer = Mailer(factory.VAULT, enabled=True)
    made = [NewLetter(f"guest{n}@d{n % 500}.example", VALUES) for n in range(letters)]
    for first in range(0, letters, 1_000):
        async with db.transaction() as tx:
            await mailer.write_all(
                tx, LetterKind.CARD, made[first : first + 1_000], organization_id=organization_id, at=factory.now()
            )


async def measure(url: str, folder: Path, letters: int, connections: int) -> tuple[float, float]:
    db = Database(url, deadline=30)
    await maintenance.run_due(db, at=factory.now())
    await write(db, (await factory.tenant(db)).id, letters)
    await db.close()
    with mail_server(folder, keep=False) as server:
        environment = {"GATEPASS_DATABASE_URL": url, "GATEPASS_ENCRYPTION_KEYS": factory.KEY}
        worker = launch_worker(environment | server.environment(connections))
        ours = rate(server, letters)
        worker.stop()
    with mail_server(folder, keep=False) as server:
        loop = multiprocessing.get_context("spawn").Process(target=bare, args=(server.port, letters, connections))
        loop.start()
        theirs = rate(server, letters // connections * connections)
        loop.join()
    return ours, theirs


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--letters", type=int, default=20_000)
    parser.add_argument("--connections", type=int, default=10)
    parser.add_argument("--check", type=float, default=1.0, help="fail below this share of what is wanted")
    given = parser.parse_args()
    cluster = start_cluster()
    try:
        url = cluster.create_database("gatepass_bench_mail")
        runner.upgrade(url)
        with tempfile.TemporaryDirectory() as folder:
            ours, theirs = asyncio.run(measure(url, Path(folder), given.letters, given.connections))
    finally:
        cluster.stop()
    ratio = ours / theirs
    print(f"{given.letters:,} letters over {given.connections} connections: {ours:,.0f}/s, bare {theirs:,.0f}/s")
    print(f"ratio {ratio:.2f}, wanted {WANTED}")
    if ratio < WANTED * given.check:
        raise SystemExit(1)


if __name__ == "__main__":
    main()
