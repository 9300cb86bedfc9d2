"""`gatepass-cli gate`: the real program, with lines on its input as a USB reader types them."""

import json
import os
import signal
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

from gatepass_sdk import Gate
from tests.sdk.cli.terminal import PROGRAM, WAIT_SECONDS, CommandResult, Terminal
from tests.sdk.gate.network import Network, State
from tests.sdk.gate.test_pairing import Lead
from tests.sdk.gate.venue import Venue


def run(directory: Path, *arguments: str, stdin: str = "") -> CommandResult:
    terminal = Terminal(directory.parent, "", None)
    return terminal.run("gate", *arguments, "--directory", str(directory), stdin=stdin)


class RunningGate:
    """`gatepass-cli gate run`, and what its screen shows."""

    def __init__(self, directory: Path) -> None:
        environment = {"PATH": os.environ["PATH"], "HOME": str(directory.parent)}
        self.process = subprocess.Popen(
            [PROGRAM, "gate", "run", "--json", "-d", str(directory)],
            env=environment,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )

    def line(self, is_it: Callable[[dict[str, Any]], bool]) -> dict[str, Any]:
        assert self.process.stdout is not None
        for text in self.process.stdout:
            found = json.loads(text)
            if is_it(found):
                return found
        raise AssertionError(self.process.communicate()[1])

    def scan(self, code: str) -> dict[str, Any]:
        assert self.process.stdin is not None
        self.process.stdin.write(f"{code}\n")
        self.process.stdin.flush()
        return self.line(lambda one: "shown" in one)["shown"]

    def end(self) -> int:
        self.process.send_signal(signal.SIGINT)
        self.process.communicate(timeout=WAIT_SECONDS)
        return self.process.returncode


def test_a_gate_is_run_with_a_reader(venue: Venue, network: Network, directory: Path) -> None:
    guest, offline = venue.guest(), venue.guest()
    with venue.gate(directory, network.url) as gate:
        venue.known(gate, guest, offline)
    running = RunningGate(directory)
    assert running.line(lambda one: "running" in one)["running"]["gate"] == "North"
    shown = running.scan(guest.token)
    assert (shown["colour"], shown["word"], shown["online"], shown["category"]) == ("green", "ENTER", True, "General")
    assert running.scan("a poster")["verdict"] == "unreadable"

    status = run(directory, "status", "--json").object
    assert (status["gate"], status["waiting"], status["status"]) == ("North", 0, "paired")
    assert run(directory, "upload").code != 0

    # The stream of changes tells the gate what other gates do, within 2 s.
    network.wait_until_sent("/manifest/stream")
    network.becomes(State.DOWN)
    assert running.scan(offline.token)["colour"] == "green"
    network.becomes(State.UP)
    network.wait_until_sent("/scans/batch")
    assert running.end() == 0
    assert len(venue.activations(offline)) == 1


def test_the_input_ends_and_all_is_uploaded(venue: Venue, network: Network, directory: Path) -> None:
    guest = venue.guest()
    with venue.gate(directory, network.url) as gate:
        venue.known(gate, guest)
    ran = run(directory, "run", stdin=f"{guest.token}\n\n{guest.number}\n")
    assert ran.code == 0, ran.err
    _, first, second = ran.out.splitlines()
    assert ("ENTER" in first, "General" in first) == (True, True)
    assert ("USED" in second, "First:" in second) == (True, True)
    assert guest.token not in ran.out + ran.err
    assert len(venue.activations(guest)) == 1


def test_upload_and_retire_say_what_they_did(venue: Venue, network: Network, directory: Path) -> None:
    guest = venue.guest()
    with venue.gate(directory, network.url) as gate:
        venue.known(gate, guest)
        gate.heartbeat()
        network.becomes(State.DOWN)
        assert gate.scan(guest.token).admitted
    stopped = run(directory, "upload", "--json")
    assert (stopped.code, stopped.object["waiting"]) == (4, 1)
    network.becomes(State.UP)
    retired = run(directory, "retire", "--json")
    assert (retired.code, retired.object["activated"], retired.object["waiting"]) == (0, 1, 0), retired
    assert run(directory, "status", "--json").object["status"] == "retired"


def test_a_machine_is_paired_from_the_terminal(venue: Venue, network: Network, directory: Path) -> None:
    lead = Lead(venue)
    environment = {"PATH": os.environ["PATH"], "HOME": str(directory.parent)}
    command = [PROGRAM, "gate", "pair", f"{network.url}/gate#{lead.code.text}", "--name", "North 2", "--json"]
    with subprocess.Popen(
        [*command, "-d", str(directory)], env=environment, stdout=subprocess.PIPE, text=True
    ) as process:
        assert process.stdout is not None
        first, second = json.loads(process.stdout.readline())["words"]
        lead.confirm((first, second))
        assert json.loads(process.stdout.readline())["paired"]["gate"] == "North"
        assert process.wait(WAIT_SECONDS) == 0
    with Gate(directory) as gate:
        assert gate.refresh()


def test_a_gate_that_is_not_paired_says_how(directory: Path) -> None:
    ran = run(directory, "run")
    assert (ran.code, "not paired" in ran.err) == (1, True)
    assert "there is no gate" in run(directory.parent / "none", "status").err
