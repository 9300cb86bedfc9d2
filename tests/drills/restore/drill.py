"""The restore drill, step by step.

Gates scan. The disk of the database is lost under them, and they go on offline. The database is restored to a moment
before that; gates send again what was acknowledged, then what waits. Then the judge compares.
"""

import json
import random
import shutil
import threading
import time
from collections.abc import Generator, Iterable
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any
from uuid import UUID

import psycopg

from gatepass.base.encryption import new_key
from gatepass_sdk import Gatepass, TicketActivated
from tests.drills.judge import Judgement, Winner, activations_in, winners_in
from tests.drills.restore.archive import ArchivedCluster, restored_up_to
from tests.drills.restore.gates import Gates, activations, arrivals, drain_all
from tests.postgres import Cluster, free_port
from tests.processes import GatepassProcess, gatepass, launch_worker, serve
from tests.receivers import ReceiverProcess
from tests.sdk.cli.terminal import Terminal

GATES = 6
# Cards in a second. Each comes to three gates.
RATE = 15.0
# The archive has the changes up to this part of the load; the disk is lost after this part.
ARCHIVED, DESTROYED = 0.6, 0.8
TOLD_WITHIN = 60.0


@dataclass(frozen=True)
class Restored:
    """What one restore did. `second` counts from the first scan; None is the end of the archive.

    `lost` acknowledged activations were not in the copy, `waited` scans had no answer. The endpoint got `told_again`
    messages for the second time, and `told_anew` with new ids.
    """

    second: float | None
    acknowledged: int
    lost: int
    resent: dict[str, Any]
    waited: int
    told_again: int
    told_anew: int
    restore_seconds: float
    start_seconds: float
    resend_seconds: float
    judgement: Judgement


class Venue:
    """The service on one PostgreSQL: its processes, and clients for its live key."""

    def __init__(self, cluster: Cluster, environment: dict[str, str], key: str) -> None:
        self.environment = {**environment, "GATEPASS_DATABASE_URL": cluster.url("gatepass")}
        self._worker = launch_worker(self.environment)
        self._server: GatepassProcess | None = None
        try:
            self._server = serve(self.environment, free_port())
        except BaseException:
            self.stop()
            raise
        self.base_url = self._server.base_url
        self.client = Gatepass(key, base_url=self.base_url)

    @property
    def database_url(self) -> str:
        return self.environment["GATEPASS_DATABASE_URL"]

    def stop(self) -> None:
        for process in (self._server, self._worker):
            if process is not None:
                process.kill()


class RestoreDrill:
    def __init__(self, folder: Path, receiver: ReceiverProcess, archived: ArchivedCluster, rng: random.Random) -> None:
        self._folder = folder
        self._receiver = receiver
        self._archived = archived
        self._rng = rng
        self._environment = {
            "GATEPASS_ENCRYPTION_KEYS": new_key(),
            "GATEPASS_METRICS_PORT": "0",
            "GATEPASS_LOG_LEVEL": "error",
            "GATEPASS_WEBHOOK_ALLOW_PRIVATE": "1",
        }
        self._cursor: str | None = None

    def load(self, seconds: float) -> None:
        """A base backup, then gates that scan while the archive falls behind and the disk is lost."""
        cluster = self._archived.cluster
        environment = {**self._environment, "GATEPASS_DATABASE_URL": cluster.create_database("gatepass")}
        gatepass(environment, "migrate")
        number = int(seconds * RATE)
        self._demo = json.loads(gatepass(environment, "demo", "--json", "--tickets", str(number)))
        with psycopg.connect(environment["GATEPASS_DATABASE_URL"]) as db:
            db.execute("UPDATE api_key SET rate_per_second = 100000, burst = 100000")
        self._key, self._event_id = self._demo["keys"]["live"], self._demo["events"]["published"]
        venue = Venue(cluster, self._environment, self._key)
        try:
            venue.client.webhook_endpoints.create(url=self._receiver.url, types=["ticket.activated"])
            self._archived.back_up()
            plan = arrivals(self._demo["cards"]["unused"][:number], GATES, RATE, self._rng)
            self._gates = Gates(self._event_id, plan, self._folder, GATES)
            self.began = datetime.now(UTC)
            scanning = threading.Thread(target=self._gates.scan, args=[venue.client.with_options(scan_deadline=1.0)])
            scanning.start()
            self._wait_until(seconds * ARCHIVED)
            self.archived_at = datetime.now(UTC)
            self._archived.archive_all()
            self._wait_until(seconds * DESTROYED)
            self._cursor = _read_feed(venue.client, None)[1]
            self._archived.destroy()
            scanning.join()
        finally:
            venue.stop()

    def random_moment(self) -> datetime:
        """The backup ended before the first second that can be asked for: pgBackRest compares whole ones."""
        first = self.began + timedelta(seconds=1)
        return first + self._rng.random() * (self.archived_at - first)

    def restore(self, moment: datetime | None) -> Restored:
        began = time.monotonic()
        copy = self._archived.restore(moment)
        restored = time.monotonic()
        since = moment or restored_up_to(copy)
        before = _told(self._receiver)
        venue = Venue(copy, self._environment, self._key)
        started = time.monotonic()
        try:
            acknowledged = self._gates.activations()
            at_first = activations_in(venue.database_url, self._event_id)
            lost = acknowledged.keys() - at_first.keys()
            with _copied(self._gates.paths) as paths:
                resent = self._resend(venue, paths, since)
                resend_seconds = time.monotonic() - started
                waited = drain_all(paths, venue.client)
            found = activations_in(venue.database_url, self._event_id)
            judgement = Judgement.of(acknowledged | activations(waited), winners_in(venue.database_url, self._event_id))
            self._require_told(venue, {one for one in found.values() if one not in at_first.values()})
            told = _told(self._receiver)[len(before) :]
            return Restored(
                second=moment and (moment - self.began).total_seconds(),
                acknowledged=len(acknowledged),
                lost=len(lost),
                resent=resent,
                waited=len(waited),
                told_again=len({*before}.intersection(told)),
                told_anew=len({*told}.difference(before)),
                restore_seconds=restored - began,
                start_seconds=started - restored,
                resend_seconds=resend_seconds,
                judgement=judgement,
            )
        finally:
            venue.stop()
            self._archived.drop(copy)

    def _resend(self, venue: Venue, paths: list[Path], since: datetime) -> dict[str, Any]:
        terminal = Terminal(self._folder, venue.base_url, self._key)
        ran = terminal.run("resend", *map(str, paths), "--since", since.isoformat(), "--json")
        assert ran.code == 0, ran.out + ran.err
        return ran.object

    def _require_told(self, venue: Venue, activated: set[tuple[Winner, UUID]]) -> None:
        """Both the endpoint and a reader of the feed with its old cursor are told of these activations."""
        wanted = {f"evt_{request_id.hex}" for _, request_id in activated}
        tickets = {str(winner.ticket_id) for winner, _ in activated}
        deadline = time.monotonic() + TOLD_WITHIN
        while not (wanted <= {*_told(self._receiver)} and tickets <= _read_feed(venue.client, self._cursor)[0]):
            assert time.monotonic() < deadline, "a message of a new activation is missing"
            time.sleep(0.1)

    def _wait_until(self, seconds: float) -> None:
        time.sleep(max(0.0, (self.began + timedelta(seconds=seconds) - datetime.now(UTC)).total_seconds()))


def _read_feed(client: Gatepass, after: str | None) -> tuple[set[str], str | None]:
    """The activated tickets that the feed tells of after this cursor, and its cursor then."""
    found: set[str] = set()
    for page in client.webhook_events.list(after=after).pages():
        found |= {one.data.ticket_id for one in page.data if isinstance(one, TicketActivated)}
        after = page.next_cursor or after
    return found, after


def _told(receiver: ReceiverProcess) -> list[str]:
    """The ids of the messages that the endpoint got, in their order."""
    assert receiver.log is not None
    return [line.split()[0] for line in receiver.log.read_text().splitlines()]


@contextmanager
def _copied(paths: Iterable[Path]) -> Generator[list[Path]]:
    """Copies of the files, so that the next restore finds the queues as the gates left them."""
    copies = [Path(shutil.copy(path, path.with_suffix(".copy"))) for path in paths]
    try:
        yield copies
    finally:
        for copy in copies:
            copy.unlink()
            copy.with_name(copy.name + "-turn").unlink(missing_ok=True)
