"""Somebody at a terminal: the real `gatepass-cli`, with a home of its own and nothing in its environment."""

import json
import os
import pty
import signal
import subprocess
import sys
import threading
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Self

PROGRAM = str(Path(sys.executable).with_name("gatepass-cli"))
# A busy machine needs this long for a process; an idle one half a second.
PATIENCE = 90.0


@dataclass(frozen=True)
class Ran:
    code: int
    out: str
    err: str

    @property
    def objects(self) -> list[dict[str, Any]]:
        return [json.loads(line) for line in self.out.splitlines()]

    @property
    def object(self) -> dict[str, Any]:
        (one,) = self.objects
        return one

    @property
    def error(self) -> dict[str, Any]:
        return json.loads(self.err)


@dataclass
class Terminal:
    """`secrets` must never be printed, whatever is run."""

    home: Path
    base_url: str
    key: str | None
    secrets: list[str] = field(default_factory=list[str])

    @property
    def environment(self) -> dict[str, str]:
        known = {"PATH": os.environ["PATH"], "HOME": str(self.home), "XDG_CONFIG_HOME": str(self.home / "config")}
        known |= {"GATEPASS_BASE_URL": self.base_url} if self.base_url else {}
        return known | ({"GATEPASS_API_KEY": self.key} if self.key else {})

    def run(self, *arguments: str, stdin: str = "", env: Mapping[str, str] | None = None) -> Ran:
        done = subprocess.run(
            [PROGRAM, *arguments],
            env={**self.environment, **(env or {})},
            input=stdin,
            capture_output=True,
            text=True,
            timeout=PATIENCE,
            check=False,
        )
        self._require_discretion(done.stdout + done.stderr)
        return Ran(done.returncode, done.stdout, done.stderr)

    def look(self, *arguments: str, env: Mapping[str, str] | None = None) -> str:
        """What a person sees, at a real terminal."""
        ours, theirs = pty.openpty()
        environment = {**self.environment, "TERM": "xterm-256color", **(env or {})}
        process = subprocess.Popen([PROGRAM, *arguments], env=environment, stdin=theirs, stdout=theirs, stderr=theirs)
        os.close(theirs)
        seen = b""
        try:
            while part := os.read(ours, 65536):
                seen += part
        except OSError:
            pass  # Linux says so when the last one has hung up
        finally:
            process.wait(PATIENCE)
            os.close(ours)
        self._require_discretion(seen.decode())
        return seen.decode()

    def start(self, *arguments: str) -> "Running":
        process = subprocess.Popen(
            [PROGRAM, *arguments],
            env=self.environment,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )
        return Running(process, self._require_discretion)

    def _require_discretion(self, printed: str) -> None:
        for secret in self.secrets:
            assert secret not in printed


class Running:
    """A command that goes on. Its lines are waited for."""

    def __init__(self, process: subprocess.Popen[str], check: Callable[[str], None]) -> None:
        self._process = process
        self._check = check
        self._lines: list[str] = []
        self._news = threading.Condition()
        self._reader = threading.Thread(target=self._read, daemon=True)
        self._reader.start()

    def wait_for(self, is_it: Callable[[dict[str, Any]], bool]) -> dict[str, Any]:
        """The first object that is it."""
        found: list[dict[str, Any]] = []

        def is_there() -> bool:
            found[:] = [one for one in map(json.loads, self._lines) if is_it(one)]
            return bool(found)

        with self._news:
            assert self._news.wait_for(is_there, PATIENCE), self._lines
        return found[0]

    def end(self, how: signal.Signals) -> int:
        self._process.send_signal(how)
        code = self._process.wait(PATIENCE)
        self._reader.join(PATIENCE)
        assert self._process.stdout is not None
        self._process.stdout.close()
        self._check("".join(self._lines))
        return code

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        if self._process.poll() is None:
            self.end(signal.SIGKILL)

    def _read(self) -> None:
        assert self._process.stdout is not None
        for line in self._process.stdout:
            with self._news:
                self._lines.append(line)
                self._news.notify_all()
