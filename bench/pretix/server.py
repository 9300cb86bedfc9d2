"""pretix running: gunicorn, a Celery worker and Redis, on a database that is already filled."""

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
from bench.pretix.client import Call, Calls, make_calls
from bench.pretix.install import DATABASE, Scanner
from tests.postgres import Cluster, free_port

# One for each core of the machine on which the wanted ratios were set. pretix's recycling of workers is left out.
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
class Instance:
    """A folder for the files and logs of pretix, and its ports."""

    folder: Path
    port: int
    redis_port: int

    @property
    def env(self) -> Mapping[str, str]:
        return {"PRETIX_CONFIG_FILE": str(self.folder / "pretix.cfg")}


def configure(results: Path, cluster: Cluster) -> Instance:
    """Write pretix's configuration file. Its logs stay in the folder after the run."""
    folder = results / "pretix"
    folder.mkdir(exist_ok=True)
    instance = Instance(folder, free_port(), free_port())
    config = CONFIG.format(
        folder=folder, port=instance.port, redis_port=instance.redis_port, postgres_port=cluster.port, database=DATABASE
    )
    (folder / "pretix.cfg").write_text(config)
    return instance


@dataclass
class Pretix:
    instance: Instance
    url: str
    scanner: Scanner
    parts: Mapping[str, subprocess.Popen[bytes]]
    unused: Iterator[str]
    scanned: int = 0

    def processes(self, part: str) -> Callable[[], Sequence[int]]:
        root = self.parts[part].pid
        return lambda: list(process_tree(root))

    def scan(self, count: int, connections: int) -> Slice:
        """Redeem tickets that were not redeemed before, and wait until Celery has done all its tasks."""
        return self._redeem(count, connections).slice()

    def warm(self, count: int, connections: int) -> None:
        self._redeem(count, connections).require_all()

    def _redeem(self, count: int, connections: int) -> Calls:
        calls = [self._call(secret) for secret in islice(self.unused, count)]
        done = make_calls(self.instance.port, calls, connections, wanted=201)
        self._wait_until_idle()
        self.scanned += len(calls)
        return done

    def _call(self, secret: str) -> Call:
        """The call of pretix's own scanner. The nonce makes a repeated call harmless, as an Idempotency-Key does."""
        return Call(
            f"/api/v1/organizers/{self.scanner.organizer}/checkinrpc/redeem/",
            {"Authorization": f"Device {self.scanner.token}"},
            {
                "secret": secret,
                "source_type": "barcode",
                "type": "entry",
                "lists": [self.scanner.checkin_list],
                "nonce": uuid4().hex,
            },
        )

    def _wait_until_idle(self) -> None:
        with redis.Redis(port=self.instance.redis_port, db=2) as broker:
            wait_for(lambda: not any(broker.scan_iter(_type="list")) and not broker.exists("unacked"), "Celery")
        time.sleep(LAST_TASK)

    def redeemed(self) -> int:
        """The number of redeemed tickets in the database."""
        with psycopg.connect(self.url) as connection:
            row = connection.execute("SELECT count(DISTINCT position_id) FROM pretixbase_checkin WHERE successful")
            return row.fetchall()[0][0]


@contextmanager
def redis_server(instance: Instance) -> Generator[subprocess.Popen[bytes]]:
    """Redis, which pretix needs even while it is filled. It saves nothing to disk: less work than in production."""
    command = [
        "redis-server",
        "--port",
        str(instance.redis_port),
        "--bind",
        "127.0.0.1",
        "--save",
        "",
        "--dir",
        str(instance.folder),
    ]
    with running_process("redis", command, instance) as process:
        wait_for(lambda: _redis_answers(instance.redis_port), "Redis")
        yield process


@contextmanager
def running_pretix(
    instance: Instance, store: subprocess.Popen[bytes], programs: Path, url: str, scanner: Scanner
) -> Generator[Pretix]:
    """Start gunicorn and Celery as the documentation does; Redis already runs."""
    commands = {
        "gunicorn": gunicorn(programs, instance),
        "celery": [str(programs / "celery"), "-A", "pretix.celery_app", "worker", "-l", "info"],
    }
    with ExitStack() as stack:
        parts = {"redis": store}
        for name, command in commands.items():
            parts[name] = stack.enter_context(running_process(name, command, instance))
        wait_for(lambda: is_healthy(instance.port), "pretix")
        yield Pretix(instance, url, scanner, parts, iter(scanner.secrets))


def gunicorn(programs: Path, instance: Instance) -> list[str]:
    bind = f"127.0.0.1:{instance.port}"
    return [str(programs / "gunicorn"), "pretix.wsgi", "--workers", str(WORKERS), "--bind", bind]


@contextmanager
def running_process(name: str, command: list[str], instance: Instance) -> Generator[subprocess.Popen[bytes]]:
    with (instance.folder / f"{name}.log").open("wb") as log:
        process = subprocess.Popen(
            command, env={**os.environ, **instance.env}, cwd=instance.folder, stdout=log, stderr=subprocess.STDOUT
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


def process_tree(pid: int) -> Iterator[int]:
    """A process and all its descendants."""
    yield pid
    for children in Path(f"/proc/{pid}/task").glob("*/children"):
        with contextlib.suppress(OSError):
            for child in children.read_text().split():
                yield from process_tree(int(child))


def wait_for(holds: Callable[[], bool], name: str) -> None:
    deadline = time.monotonic() + READY_WITHIN
    while not holds():
        if time.monotonic() > deadline:
            raise AssertionError(f"{name} was not ready in time: see its log in bench/results/pretix")
        time.sleep(0.05)


def _redis_answers(port: int) -> bool:
    try:
        with redis.Redis(port=port) as store:
            return bool(store.ping())
    except redis.ConnectionError:
        return False


def is_healthy(port: int) -> bool:
    connection = HTTPConnection("127.0.0.1", port, timeout=30)
    try:
        connection.request("GET", "/healthcheck/")
        return connection.getresponse().status == 200
    except (OSError, HTTPException):
        return False
    finally:
        connection.close()
