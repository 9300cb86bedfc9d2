"""A real Prometheus with the rules of deploy/observe, sixty times as fast."""

import json
import shutil
import subprocess
import tempfile
import time
import urllib.error
import urllib.parse
import urllib.request
from collections import defaultdict
from collections.abc import Generator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

from tests.observe.alert_rules import FILES, OBSERVE, faster
from tests.postgres import free_port

UP_WITHIN = 120.0
SCRAPE_EVERY = "500ms"


@dataclass(frozen=True)
class Target:
    job: str
    port: int
    cell: str = "a"


@dataclass
class Prometheus:
    port: int

    def ask(self, path: str, **parameters: str) -> Any:
        url = f"http://127.0.0.1:{self.port}/api/v1/{path}?{urllib.parse.urlencode(parameters)}"
        with urllib.request.urlopen(url, timeout=10) as answer:
            return json.load(answer)["data"]

    def firing(self) -> set[str]:
        return {name for names in self.firing_by_cell().values() for name in names}

    def firing_by_cell(self) -> dict[str, set[str]]:
        found: defaultdict[str, set[str]] = defaultdict(set)
        for one in self.ask("alerts")["alerts"]:
            if one["state"] == "firing":
                found[one["labels"]["cell"]].add(one["labels"]["alertname"])
        return dict(found)

    def targets_up(self) -> int:
        return sum(int(one["value"][1]) for one in self.ask("query", query="up")["result"])

    def wait_until_over(self, name: str, within: float = 120.0) -> None:
        deadline = time.monotonic() + within
        while name in self.firing():
            assert time.monotonic() < deadline, f"{name} does not end"
            time.sleep(0.1)

    def wait_until_firing(self, *names: str, within: float = 120.0) -> dict[str, float]:
        """Wait until all of these are firing; the seconds that each took."""
        began, took = time.monotonic(), dict[str, float]()
        while missing := set(names) - set(took):
            seconds = time.monotonic() - began
            assert time.monotonic() < began + within, f"not firing: {missing}; firing: {self.firing()}"
            took |= dict.fromkeys(missing & self.firing(), seconds)
            time.sleep(0.1)
        print("fired after", {name: f"{seconds:.1f} s" for name, seconds in took.items()})
        return took


@contextmanager
def prometheus(targets: Sequence[Target], up: int | None = None) -> Generator[Prometheus]:
    """Scrapes these ports of this machine until the block ends. All of them answer, or `up` of them."""
    program = shutil.which("prometheus")
    assert program, "these tests need prometheus (Debian: apt install prometheus)"
    with tempfile.TemporaryDirectory(prefix="gatepass-prometheus-") as name:
        folder = Path(name)
        for file in FILES:
            (folder / file).write_text(faster((OBSERVE / file).read_text()))
        (folder / "prometheus.yml").write_text(yaml.safe_dump(_config(targets)))
        started = Prometheus(free_port())
        with (folder / "log").open("w") as log:
            process = subprocess.Popen(
                [
                    program,
                    f"--config.file={folder}/prometheus.yml",
                    f"--storage.tsdb.path={folder}/data",
                    f"--web.listen-address=127.0.0.1:{started.port}",
                    "--log.level=warn",
                ],
                stderr=log,
                cwd=folder,
            )
            try:
                _wait_until_scraped(started, process, folder / "log", len(targets) if up is None else up)
                yield started
            finally:
                process.kill()
                process.wait(10)


def _config(targets: Sequence[Target]) -> dict[str, Any]:
    jobs: defaultdict[str, list[Target]] = defaultdict(list)
    for target in targets:
        jobs[target.job].append(target)
    return {
        "global": {"scrape_interval": SCRAPE_EVERY, "scrape_timeout": SCRAPE_EVERY, "evaluation_interval": "500ms"},
        "rule_files": list(FILES),
        "scrape_configs": [
            {
                "job_name": job,
                "static_configs": [
                    {"targets": [f"127.0.0.1:{one.port}"], "labels": {"cell": one.cell}} for one in alike
                ],
            }
            for job, alike in jobs.items()
        ],
    }


def _wait_until_scraped(started: Prometheus, process: subprocess.Popen[bytes], log: Path, targets: int) -> None:
    deadline = time.monotonic() + UP_WITHIN
    while True:
        assert process.poll() is None, log.read_text()
        assert time.monotonic() < deadline, f"not every process is scraped: {log.read_text()}"
        try:
            if started.targets_up() == targets:
                return
        except (urllib.error.URLError, ConnectionError):
            pass
        time.sleep(0.05)
