"""A terminal: commands are pasted into one shell, Python into one interpreter, and their output is read.

Everything that they leave in the background is killed when the terminal is closed.
"""

import json
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Self

# Seconds on a busy machine; an idle one needs two.
WITHIN = 90.0
SHELL = ["bash", "--noprofile", "--norc"]
# Names stay from one block to the next, and so do the variables that the shell has exported.
INTERPRETER = """
import json, os, sys, traceback
names = {"__name__": "__main__"}
for line in sys.stdin:
    told = json.loads(line)
    os.environ.clear()
    os.environ.update(told["env"])
    status = 0
    try:
        exec(compile(told["code"], told["name"], "exec"), names)
    except BaseException:
        traceback.print_exc()
        status = 1
    print(told["mark"] + str(status), flush=True)
"""


class Failed(AssertionError):  # noqa: N818  it is the page that failed
    """A pasted command failed."""


class Printed:
    """The output of a process, while it runs."""

    def __init__(self, process: subprocess.Popen[str]) -> None:
        self.text = ""
        self._changed = threading.Condition()
        self._stream = process.stdout
        self._reader = threading.Thread(target=self._collect, daemon=True)
        self._reader.start()

    def wait_until(self, holds: Callable[[str], bool], within: float) -> bool:
        with self._changed:
            return self._changed.wait_for(lambda: holds(self.text), within)

    def close(self) -> None:
        self._reader.join(10)
        assert self._stream is not None
        self._stream.close()

    def _collect(self) -> None:
        assert self._stream is not None
        for line in self._stream:
            with self._changed:
                self.text += line
                self._changed.notify_all()


class Terminal:
    def __init__(self, folder: Path, env: Mapping[str, str]) -> None:
        self.folder = folder
        self._env = dict(env)
        self._pasted = 0
        self._began = 0
        self._shell = self._start(SHELL)
        self._printed = Printed(self._shell)
        self._interpreter: subprocess.Popen[str] | None = None
        self._interpreter_printed: Printed | None = None
        self._last = self._printed

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """End it, and everything that was started in it."""
        for process, printed in ((self._interpreter, self._interpreter_printed), (self._shell, self._printed)):
            if process is not None and printed is not None and process.returncode is None:
                end(process)
                printed.close()

    def paste(self, command: str) -> str:
        """Run commands in the shell; their output. A command that fails is an error, and the shell goes on."""
        return self._run(f"source {self._saved(command)} </dev/null", command)

    def open(self, command: str) -> None:
        """Run commands of which the last one keeps running."""
        self._say(self._shell, f"source {self._saved(command)} </dev/null")

    def python(self, code: str) -> str:
        """Run Python, with the names that it had before and the variables that the shell has now."""
        if self._interpreter is None:
            self._interpreter = self._start([sys.executable, "-u", "-c", INTERPRETER])
            self._interpreter_printed = Printed(self._interpreter)
        variables = self.folder / ".env-0"
        self._run(f"env -0 > {variables}", "env")
        env = dict(item.split("=", 1) for item in variables.read_text().split("\0") if item)
        mark = self._next_mark()
        assert self._interpreter_printed is not None
        self._last, self._began = self._interpreter_printed, len(self._interpreter_printed.text)
        told = {"code": code, "env": env, "mark": mark, "name": "the page"}
        self._say(self._interpreter, json.dumps(told))
        return self._until(mark, code)

    def since(self) -> str:
        """All output since the last block began, that of background processes included."""
        return "".join(
            line for line in self._last.text[self._began :].splitlines(keepends=True) if not line.startswith("--mark-")
        )

    def wait_until(self, holds: Callable[[str], bool], within: float = WITHIN) -> bool:
        return self._last.wait_until(lambda _: holds(self.since()), within)

    def read_so_far(self) -> None:
        """Skip the output until now."""
        self._began = len(self._last.text)

    def _saved(self, command: str) -> Path:
        path = self.folder / f".pasted-{id(self)}-{self._pasted}.sh"
        path.write_text(command)
        return path

    def _run(self, line: str, shown: str) -> str:
        mark = self._next_mark()
        self._last, self._began = self._printed, len(self._printed.text)
        self._say(self._shell, f"failed=0; set -E; trap 'failed=1' ERR; {line}; trap - ERR; echo; echo {mark}$failed")
        return self._until(mark, shown).removesuffix("\n")

    def _until(self, mark: str, shown: str) -> str:
        """The output until the mark; the command failed if a 1 follows it."""
        came = self._last.wait_until(lambda text: mark in text, WITHIN)
        printed = self._last.text[self._began :]
        if not came:
            raise Failed(f"this does not end:\n{shown}\n{printed}")
        before, _, status = printed.partition(mark)
        if not status.startswith("0"):
            raise Failed(f"this fails:\n{shown}\n{before}")
        return before

    def _next_mark(self) -> str:
        self._pasted += 1
        return f"--mark-{self._pasted}-"

    def _say(self, process: subprocess.Popen[str], line: str) -> None:
        assert process.stdin is not None
        process.stdin.write(line + "\n")
        process.stdin.flush()

    def _start(self, command: list[str]) -> subprocess.Popen[str]:
        return subprocess.Popen(
            command,
            cwd=self.folder,
            env=self._env,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            start_new_session=True,
        )


def end(process: subprocess.Popen[str]) -> None:
    """The process and everything that it has started."""
    assert process.stdin is not None
    process.stdin.close()
    for number, within in ((signal.SIGTERM, 20), (signal.SIGKILL, 5)):
        deadline = time.monotonic() + within
        with suppress(ProcessLookupError):
            os.killpg(process.pid, number)
        while living(process.pid) and time.monotonic() < deadline:
            time.sleep(0.02)
    process.wait(10)


def living(group: int) -> bool:
    """Whether one of the group still runs. Zombies do not count: they may stay for long."""
    for stat in Path("/proc").glob("[0-9]*/stat"):
        with suppress(FileNotFoundError, ProcessLookupError):
            state, _, its_group = stat.read_text().rpartition(")")[2].split()[:3]
            if int(its_group) == group and state != "Z":
                return True
    return False
