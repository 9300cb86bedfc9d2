"""What HTTP itself costs: servers of the field in front of the least ASGI application, in turn, in one run.

python -m bench.servers

The requests are those of scans, over 64 connections. granian has none of our bounds on heads, bodies and slow callers.
"""

import argparse
import os
import random
import subprocess
import sys
import tempfile
from collections.abc import Generator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from uuid import uuid4

from bench import cpu
from bench.console import wide_console
from bench.measure import Series, wrk
from bench.report import empty_table
from tests.postgres import free_port
from tests.processes import wait_until_listening

HERE = Path(__file__).parent
ROOT = HERE.parents[1]
APP = "app:app"  # of this folder: granian's venv has nothing that the package needs
GRANIAN = "granian[uvloop]==2.8.7"
PLAIN = "uvicorn, as it comes"
CONNECTIONS = 64
MOST_A_SECOND = 60_000


@dataclass
class Running:
    name: str
    url: str
    pid: int

    def cpu_seconds(self) -> float:
        """Of the process and its workers."""
        children = Path(f"/proc/{self.pid}/task/{self.pid}/children").read_text().split()
        return sum(cpu.exact_seconds(pid) for pid in (self.pid, *map(int, children)))


def programs(folder: Path) -> Path:
    """A venv of its own, with granian."""
    python = folder / "bin" / "python"
    subprocess.run(["uv", "venv", "-q", "--python", "3.11", str(folder)], check=True)
    subprocess.run(["uv", "pip", "install", "-q", "--python", str(python), GRANIAN], check=True)
    return folder / "bin"


@contextmanager
def running(name: str, command: list[str], port: int) -> Generator[Running]:
    env = {**os.environ, "PYTHONPATH": os.pathsep.join(map(str, (ROOT, HERE)))}
    process = subprocess.Popen(command, cwd=ROOT, env=env, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        wait_until_listening(process, port)
        yield Running(name, f"http://127.0.0.1:{port}", process.pid)
    finally:
        process.terminate()
        process.wait(20)


def commands(folder: Path) -> dict[str, list[str]]:
    """By name; the port is appended."""
    python = sys.executable
    return {
        "HTTP alone, no ASGI, no bounds": [python, "-m", "bench.servers.floor"],
        "granian": [str(programs(folder) / "granian"), APP, "--interface", "asgi", "--loop", "uvloop",
                    "--no-ws", "--log-level", "error", "--host", "127.0.0.1", "--port"],
        PLAIN: [python, "-m", "uvicorn", APP, "--loop", "uvloop", "--http", "httptools", "--ws", "none",
                "--no-access-log", "--log-level", "error", "--port"],
        "uvicorn with our protocol": [python, "-m", "bench.servers.ours"],
    }  # fmt: skip


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--seconds", type=int, default=3)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as name, ExitStack() as stack:
        folder = Path(name)
        plan = folder / "plan"
        lines = options.seconds * MOST_A_SECOND
        plan.write_text("".join(f"key {uuid4()} SVC_{random.randrange(10**12):012} none\n" for _ in range(lines)))
        servers = [
            stack.enter_context(running(name, [*command, str(port := free_port())], port))
            for name, command in commands(folder / "venv").items()
        ]
        series = {server.name: Series(server.name) for server in servers}
        for _ in range(options.rounds):
            for server in servers:
                before = server.cpu_seconds()
                one = wrk([server], plan, 0, options.seconds, CONNECTIONS, "card", tickets_a_second=MOST_A_SECOND)
                one.python_us = (server.cpu_seconds() - before) / one.done * 1e6
                if one.failed:
                    raise SystemExit(f"{server.name}: {one.failed} calls failed")
                series[server.name].slices.append(one)
    shown = empty_table(f"{CONNECTIONS} connections", "server", "a second", "CPU µs a call", "to uvicorn")
    for one in series.values():
        cost = one.figure(lambda each: each.python_us) or 0
        shown.add_row(one.name, f"{one.rate:,.0f}", f"{cost:,.0f}", f"{one.rate / series[PLAIN].rate:.2f}")
    wide_console().print(shown)


if __name__ == "__main__":
    main()
