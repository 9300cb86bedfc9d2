"""The processes make only system calls that their units allow: traced at work, compared with systemd's own lists."""

import asyncio
import json
import os
import platform
import re
import shutil
import signal
import socket
import subprocess
import sys
from collections.abc import Generator
from dataclasses import dataclass
from pathlib import Path

import httpx2
import pytest

from tests.deploy import systemd_units
from tests.deploy.smoke import a_scan_is_answered_and_its_webhook_received, caller
from tests.deploy.systemd_runner import SystemdRunner
from tests.deploy.systemd_units import Unit
from tests.receivers import receiving

pytestmark = pytest.mark.skipif(
    not (shutil.which("strace") and shutil.which("systemd-analyze")),
    reason="needs strace and systemd-analyze (Debian: apt install strace systemd)",
)

# Runs a program without memory that is both writable and executable: PR_SET_MDWE of prctl(2), since Linux 6.3.
WITHOUT_WRITABLE_CODE = """
import ctypes, os, sys
assert ctypes.CDLL(None).prctl(65, 1, 0, 0, 0) == 0
os.execvp(sys.argv[1], sys.argv[1:])
"""
KNOWS_MDWE = tuple(map(int, re.findall("[0-9]+", platform.release())[:2])) >= (6, 3)
WITHIN = 120


@dataclass
class Traced:
    unit: Unit
    tracer: "subprocess.Popen[bytes]"
    trace: Path

    def stop(self) -> int:
        [process] = Path(f"/proc/{self.tracer.pid}/task/{self.tracer.pid}/children").read_text().split()
        os.kill(int(process), signal.SIGTERM)
        return self.tracer.wait(WITHIN)

    def calls(self) -> set[str]:
        return set(
            re.findall(r"^\d+ +(?:<\.\.\. )?([a-z]\w+)[( ]", self.trace.read_text(errors="replace"), re.MULTILINE)
        )

    def families(self) -> set[str]:
        return set(re.findall(r"socket\((AF_\w+)", self.trace.read_text(errors="replace")))

    def written(self) -> set[str]:
        """The files that were opened for writing."""
        lines = self.trace.read_text(errors="replace").splitlines()
        opened = [
            line for line in lines if re.search(r"open(at)?\(.*O_(WRONLY|RDWR|CREAT)", line) and "= -1" not in line
        ]
        return {found[1] for line in opened if (found := re.search(r'"([^"]*)"', line))}


def traced(systemd: SystemdRunner, name: str, folder: Path) -> Traced:
    unit, trace = systemd_units.read(name), folder / f"{name}.trace"
    assert unit.one("MemoryDenyWriteExecute") == "yes"
    forbidding = (sys.executable, "-c", WITHOUT_WRITABLE_CODE) if KNOWS_MDWE else ()
    return Traced(unit, systemd.start(unit, (*forbidding, "strace", "-f", "-qq", "-o", str(trace))), trace)


@pytest.fixture
def running(systemd: SystemdRunner, notify_socket: socket.socket, tmp_path: Path) -> Generator[list[Traced]]:
    """All units: the migration has ended, the others are ready."""
    started = [traced(systemd, "gatepass-migrate.service", tmp_path)]
    try:
        assert started[0].tracer.wait(WITHIN) == 0
        for name in ("api", "studio", "card-page", "worker"):
            started.append(traced(systemd, f"gatepass-{name}@.service", tmp_path))
            assert notify_socket.recv(100) == b"READY=1"
        yield started
    finally:
        for one in started:
            if one.tracer.poll() is None:
                one.stop()


async def test_they_do_nothing_that_their_units_forbid(systemd: SystemdRunner, running: list[Traced]) -> None:
    demo = json.loads(await asyncio.to_thread(systemd.run, "demo", "--json"))
    async with caller(systemd.url("8001"), demo) as api, receiving() as receiver:
        await a_scan_is_answered_and_its_webhook_received(api, demo, receiver)
    async with httpx2.AsyncClient(follow_redirects=True) as people:
        assert (await people.get(systemd.url("8101") + "/studio")).status_code == 200
        assert (await people.get(systemd.url("8201") + "/c/unknown")).status_code == 404
    for one in running[1:]:
        assert await asyncio.to_thread(one.stop) == 0
    for one in running:
        assert {"openat", "execve", "exit_group"} <= one.calls(), "there is a trace"
        assert one.calls() - allowed(one.unit) == set()
        assert one.families() <= set(one.unit.one("RestrictAddressFamilies").split())
        assert one.written() == set()


def allowed(unit: Unit) -> set[str]:
    """The system calls that the unit's filters leave, applied in their order. `@default` is always allowed."""
    groups = system_calls()
    left = set(groups["@default"])
    for line in unit.values["SystemCallFilter"]:
        named = {call for name in line.removeprefix("~").split() for call in groups.get(name, {name})}
        left = left - named if line.startswith("~") else left | named
    return left


def system_calls() -> dict[str, set[str]]:
    """The groups of systemd, with nested groups resolved."""
    command = ["systemd-analyze", "syscall-filter", "--no-pager"]
    text = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    groups = {part.split()[0]: part.splitlines()[1:] for part in text.split("\n\n") if part.startswith("@")}

    def resolved(name: str) -> set[str]:
        lines = [line.strip() for line in groups[name] if not line.strip().startswith("#")]
        return {call for line in lines for call in (resolved(line) if line.startswith("@") else {line})}

    return {name: resolved(name) for name in groups}
