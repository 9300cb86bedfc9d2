"""pretix running: gunicorn, a Celery worker and Redis, before a database that is already filled."""

import contextlib
import os
import subprocess
import time
from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from http.client import HTTPConnection, HTTPException
from itertools import islice
from pathlib import Path
from uuid import uuid4

import psycopg
import redis

from bench.measure import Slice
from bench.pretix.installed import DATABASE, Known
from bench.pretix.volley import Call, Volley, volley
from tests.postgres import Cluster, free_port

# One a core of the machine that the wanted ratios were set on. The documentation's recycling of workers is left out.
WORKERS = 2
READY_WITHIN = 90.0
# A task leaves the queue when a worker takes it, not when it is done.
LAST_TASK = 0.5

CONFIG = """\
[pretix]
instance_name=Bench
url=http://127.0.0.1:{port}
datadir={folder}

[database]
backend=postgresql
name={database}
user=postgres
host=127.0.0.1
port={postgres_port}

[redis]
location=redis://127.0.0.1:{redis_port}/0
sessions=true

[celery]
backend=redis://127.0.0.1:{redis_port}/1
broker=redis://127.0.0.1:{redis_port}/2
"""


@dataclass
class Home:
    """Where pretix lives: a folder for its files and logs, and its ports."""

    folder: Path
    port: int
    redis_port: int

    @property
    def env(self) -> Mapping[str, str]:
        return {"PRETIX_CONFIG_FILE": str(self.folder / "pretix.cfg")}


def settle(kept: Path, cluster: Cluster) -> Home:
    """Write down for pretix where everything is. Its logs stay in the folder when the run is over."""
    folder = kept / "pretix"
    folder.mkdir(exist_ok=True)
    home = Home(folder, free_port(), free_port())
    config = CONFIG.format(
        folder=folder, port=home.port, redis_port=home.redis_port, postgres_port=cluster.port, database=DATABASE
    )
    (folder / "pretix.cfg").write_text(config)
    return home


@dataclass
class Pretix:
    home: Home
    url: str
    known: Known
    parts: Mapping[str, subprocess.Popen[bytes]]
    unused: Iterator[str]
    scanned: int = 0

    def processes(self, part: str) -> Callable[[], Sequence[int]]:
        root = self.parts[part].pid
        return lambda: list(family(root))

    def scan(self, count: int, connections: int) -> Slice:
        """Redeem tickets that were not redeemed before, and wait until Celery is done with what followed."""
        return self._redeem(count, connections).slice()

    def warm(self, count: int, connections: int) -> None:
        self._redeem(count, connections).require_all()

    def _redeem(self, count: int, connections: int) -> Volley:
        calls = [self._call(secret) for secret in islice(self.unused, count)]
        done = volley(self.home.port, calls, connections, wanted=201)
        self._wait_until_idle()
        self.scanned += len(calls)
        return done

    def _call(self, secret: str) -> Call:
        """What pretix's own scanner sends; the nonce makes a repeated call harmless, as an Idempotency-Key does."""
        return Call(
            f"/api/v1/organizers/{self.known.organizer}/checkinrpc/redeem/",
            {"Authorization": f"Device {self.known.token}"},
            {
                "secret": secret,
                "source_type": "barcode",
                "type": "entry",
                "lists": [self.known.checkin_list],
                "nonce": uuid4().hex,
            },
        )

    def _wait_until_idle(self) -> None:
        with redis.Redis(port=self.home.redis_port, db=2) as broker:
            wait_for(lambda: not any(broker.scan_iter(_type="list")) and not broker.exists("unacked"), "Celery")
        time.sleep(LAST_TASK)

    def redeemed(self) -> int:
        """How many tickets the database says were let in."""
        with psycopg.connect(self.url) as connection:
            row = connection.execute("SELECT count(DISTINCT position_id) FROM pretixbase_checkin WHERE successful")
            return row.fetchall()[0][0]


@contextmanager
def redis_server(home: Home) -> Generator[subprocess.Popen[bytes]]:
    """Redis, which pretix needs even to be filled. It keeps nothing on disk: less than an operator would ask of it."""
    command = [
        "redis-server",
        "--port",
        str(home.redis_port),
        "--bind",
        "127.0.0.1",
        "--save",
        "",
        "--dir",
        str(home.folder),
    ]
    with started("redis", command, home) as process:
        wait_for(lambda: _pongs(home.redis_port), "Redis")
        yield process


@contextmanager
def running(home: Home, store: subprocess.Popen[bytes], programs: Path, url: str, known: Known) -> Generator[Pretix]:
    """Start gunicorn and Celery as the documentation does; Redis already runs."""
    commands = {
        "gunicorn": [
            str(programs / "gunicorn"), "pretix.wsgi", "--workers", str(WORKERS), "--bind", f"127.0.0.1:{home.port}",
        ],
        "celery": [str(programs / "celery"), "-A", "pretix.celery_app", "worker", "-l", "info"],
    }  # fmt: skip
    with ExitStack() as stack:
        parts = {"redis": store}
        for name, command in commands.items():
            parts[name] = stack.enter_context(started(name, command, home))
        wait_for(lambda: _is_healthy(home.port), "pretix")
        yield Pretix(home, url, known, parts, iter(known.secrets))


@contextmanager
def started(name: str, command: list[str], home: Home) -> Generator[subprocess.Popen[bytes]]:
    with (home.folder / f"{name}.log").open("wb") as log:
        process = subprocess.Popen(
            command, env={**os.environ, **home.env}, cwd=home.folder, stdout=log, stderr=subprocess.STDOUT
        )
        try:
            yield process
        finally:
            process.terminate()
            try:
                process.wait(20)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()


def family(pid: int) -> Iterator[int]:
    """A process and all that came from it."""
    yield pid
    for children in Path(f"/proc/{pid}/task").glob("*/children"):
        with contextlib.suppress(OSError):
            for child in children.read_text().split():
                yield from family(int(child))


def wait_for(is_so: Callable[[], bool], what: str) -> None:
    deadline = time.monotonic() + READY_WITHIN
    while not is_so():
        if time.monotonic() > deadline:
            raise AssertionError(f"{what} was not ready in time: see its log in bench/results/pretix")
        time.sleep(0.05)


def _pongs(port: int) -> bool:
    try:
        with redis.Redis(port=port) as store:
            return bool(store.ping())
    except redis.ConnectionError:
        return False


def _is_healthy(port: int) -> bool:
    connection = HTTPConnection("127.0.0.1", port, timeout=30)
    try:
        connection.request("GET", "/healthcheck/")
        return connection.getresponse().status == 200
    except (OSError, HTTPException):
        return False
    finally:
        connection.close()
