"""A gate in Node, with the names of `gatepass_sdk.Gate`, for a test to work with."""

import json
import subprocess
import time
from collections.abc import Callable, Generator
from contextlib import contextmanager
from pathlib import Path
from types import SimpleNamespace
from typing import Any

from tests.sdk.gate.venue import WAIT_SECONDS, Venue
from tests.sdk.javascript.node import tool

HERE = Path(__file__).parent


class GateCallError(Exception):
    """What the gate threw. `name` is the class of the error."""

    def __init__(self, name: str, message: str, code: str | None) -> None:
        super().__init__(f"{name}: {message}")
        self.name = name
        self.code = code


class NodeGate:
    """Each call is a line to the process, and its result the next line from it."""

    def __init__(self, process: "subprocess.Popen[str]") -> None:
        self._process = process

    def pair(self, code: str, url: str, confirm: Callable[[tuple[str, str]], None], *, name: str = "North 2") -> Any:
        """Pair it. `confirm` gets the two words that its screen shows."""
        return self._call("pair", code, url, name, on_words=confirm)

    def scan(self, shown: str, *, reader: str = "") -> Any:
        return self._call("scan", shown, reader)

    def upload(self, *, again: bool = False) -> Any:
        return self._call("upload", again)

    def __getattr__(self, name: str) -> Callable[..., Any]:
        return lambda *given: self._call(name, *given)

    def _call(self, name: str, *given: object, on_words: Callable[[tuple[str, str]], None] | None = None) -> Any:
        self._send(json.dumps({"name": name, "given": given}))
        line = self._line()
        while "words" in line:
            assert on_words is not None
            on_words(tuple(line["words"]))
            self._send("")
            line = self._line()
        if "error" in line:
            raise GateCallError(line["error"], line["message"], line["code"])
        return _named(line["result"])

    def _send(self, line: str) -> None:
        stdin = self._process.stdin
        assert stdin is not None
        stdin.write(line + "\n")
        stdin.flush()

    def _line(self) -> dict[str, Any]:
        stdout = self._process.stdout
        assert stdout is not None
        text = stdout.readline()
        assert text, "The process ended."
        return json.loads(text)

    def until(self, holds: Callable[[Any], bool], *, refresh: bool = False) -> Any:
        """Wait until its status is such."""
        ends = time.monotonic() + WAIT_SECONDS
        while not holds(status := self.status()):
            assert time.monotonic() < ends, status
            if not (refresh and self.refresh()):
                time.sleep(0.05)
        return status


def _named(value: Any) -> Any:
    """Objects with attributes, as Python's are; what a refusal says in detail stays a dict."""
    if isinstance(value, dict):
        return SimpleNamespace(**{name: one if name == "details" else _named(one) for name, one in value.items()})
    return [_named(one) for one in value] if isinstance(value, list) else value


@contextmanager
def started(program: Path) -> Generator[NodeGate]:
    """A gate that is open and not paired."""
    with subprocess.Popen(["node", str(program)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        try:
            gate = NodeGate(process)
            gate.open()
            yield gate
        finally:
            process.kill()


def bundled(folder: Path) -> Path:
    """The program of `gate_run.mts`, with all that it imports."""
    program = folder / "gate_run.mjs"
    options = ["--bundle", "--format=esm", "--target=es2022", "--platform=node", "--log-level=warning"]
    done = tool("esbuild", "gate_run.mts", *options, f"--outfile={program}", cwd=HERE)
    assert done.returncode == 0, done.stderr
    return program


def known(gate: NodeGate, venue: Venue) -> None:
    """Wait until the gate's manifest has every card of this event."""
    ((cards,),) = venue.execute("SELECT count(DISTINCT card_id) FROM ticket WHERE event_id = %s", venue.event_id)
    gate.until(lambda status: status.cards == cards, refresh=True)
