"""A terminal: the real `gatepass-cli`, with a home folder of its own and an empty environment."""

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
# A busy machine needs this long to run a process; an idle one needs half a second.
WAIT_SECONDS = 90.0


@dataclass(frozen=True)
class CommandResult:
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
    """No command may print one of the `secrets`."""

    home: Path
    base_url: str
    key: str | None
    secrets: list[str] = field(default_factory=list[str])

    @property
    def environment(self) -> dict[str, str]:
        known = {"PATH": os.environ["PATH"], "HOME": str(self.home), "XDG_CONFIG_HOME": str(self.home / "config")}
        known |= {"GATEPASS_BASE_URL": self.base_url} if self.base_url else {}
        return known | ({"GATEPASS_API_KEY": self.key} if self.key else {})

    def run(self, *arguments: str, stdin: str = "", env: Mapping[str, str] | None = None) -> CommandResult:
        done = subprocess.run(
            [PROGRAM, *arguments],
            env={**self.environment, **(env or {})},
            input=stdin,
            capture_output=True,
            text=True,
            timeout=WAIT_SECONDS,
            check=False,
        )
        self._require_no_secret(done.stdout + done.stderr)
        return CommandResult(done.returncode, done.stdout, done.stderr)

    def run_in_pty(self, *arguments: str, env: Mapping[str, str] | None = None) -> str:
        """The output at a real terminal."""
        ours, theirs = pty.openpty()
        environment = {**self.environment, "TERM": "xterm-256color", **(env or {})}
        process = subprocess.Popen([PROGRAM, *arguments], env=environment, stdin=theirs, stdout=theirs, stderr=theirs)
        os.close(theirs)
        seen = b""
        try:
            while part := os.read(ours, 65536):
                seen += part
        except OSError:
            pass  # Linux raises it when the last writer has closed
        finally:
            process.wait(WAIT_SECONDS)
            os.close(ours)
        self._require_no_secret(seen.decode())
        return seen.decode()

    def start(self, *arguments: str) -> "RunningCommand":
        process = subprocess.Popen(
            [PROGRAM, *arguments],
            env=self.environment,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )
        return RunningCommand(process, self._require_no_secret)

    def _require_no_secret(self, printed: str) -> None:
        for secret in self.secrets:
            assert secret not in printed


class RunningCommand:
    """A command that keeps running, and the lines that it has printed."""

    def __init__(self, process: subprocess.Popen[str], check: Callable[[str], None]) -> None:
        self._process = process
        self._check = check
        self._lines: list[str] = []
        self._changed = threading.Condition()
        self._reader = threading.Thread(target=self._read, daemon=True)
        self._reader.start()

    def wait_for(self, is_it: Callable[[dict[str, Any]], bool]) -> dict[str, Any]:
        """The first printed object for which `is_it` holds."""
        found: list[dict[str, Any]] = []

        def is_there() -> bool:
            found[:] = [one for one in map(json.loads, self._lines) if is_it(one)]
            return bool(found)

        with self._changed:
            assert self._changed.wait_for(is_there, WAIT_SECONDS), self._lines
        return found[0]

    def end(self, how: signal.Signals) -> int:
        self._process.send_signal(how)
        code = self._process.wait(WAIT_SECONDS)
        self._reader.join(WAIT_SECONDS)
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
            with self._changed:
                self._lines.append(line)
                self._changed.notify_all()
