"""`gatepass-cli gate run`: a USB reader types a line for each code, and the screen turns green, red or amber."""

import sys
from collections.abc import Iterable
from datetime import datetime
from typing import Any, Final

from gatepass_sdk.cli.context import AsJson
from gatepass_sdk.cli.errors import sentence
from gatepass_sdk.cli.gate.options import Directory, KeyFile, opened
from gatepass_sdk.cli.interruption import Interruption, until_interrupted
from gatepass_sdk.cli.output import Printer, note
from gatepass_sdk.errors import GatepassError
from gatepass_sdk.gate import First, Gate, Shown

# The style of the large word and of the text behind it.
STYLES: Final = {"green": ("good", "green"), "red": ("bad", "red"), "amber": ("warn", "yellow")}


def run(*, directory: Directory = None, key_file: KeyFile = None, as_json: AsJson = False) -> None:
    """Scan what a reader types, a code a line, until Ctrl-C or the end of the input.

    Without a network it decides itself, and uploads later. Every admission is on the disk before it is shown.
    """
    out = Printer(as_json=as_json)
    with opened(directory, key_file) as gate, until_interrupted() as interruption:
        with gate.working():
            _announce(gate, out)
            _scan(gate, sys.stdin, out, interruption)
        waiting = gate.status().waiting
        if waiting:
            gate.upload()


def _announce(gate: Gate, out: Printer) -> None:
    """Printed when codes are read: nothing that is typed after this line is lost."""
    device = gate.device
    if device is None:
        return
    known = {"device_id": device.id, "name": device.name, "event_id": device.event_id, "gate": device.gate}
    if out.as_json:
        out.data({"running": known})
    else:
        out.line(f"{device.name} at {device.gate}. Ctrl-C ends it.", "strong")


def _scan(gate: Gate, lines: Iterable[str], out: Printer, interruption: Interruption) -> None:
    for line in lines:
        interruption.check()
        if not line.strip():
            continue
        try:
            show(gate.scan(line), out)
        except GatepassError as error:
            # Nothing was written, so nobody is let in. The next scan may work: a full disk is emptied.
            note(sentence(error))
            show(Shown.of("not_kept"), out)


def show(shown: Shown, out: Printer) -> None:
    if out.as_json:
        out.data({"shown": as_fields(shown)})
        return
    large, small = STYLES[shown.colour]
    parts = [shown.message, shown.category, _first(shown.first), "" if shown.online else "(offline)"]
    text = "  ".join(part for part in parts if part)
    print(out.coloured(f"{shown.word:^12}", large), out.coloured(text, small), flush=True)


def as_fields(shown: Shown) -> dict[str, Any]:
    first = shown.first
    known = {name: getattr(shown, name) for name in FIELDS}
    return {**known, "first": first and {"at": first.at, "gate": first.gate, "scanner_id": first.scanner_id}}


FIELDS: Final = (
    *("colour", "word", "message", "verdict", "category", "tier", "online", "echo", "sequence", "details"),
)


def _first(first: First | None) -> str | None:
    if first is None:
        return None
    when = [f"{first.at.astimezone():%H:%M:%S}"] if isinstance(first.at, datetime) else []
    return f"First: {', '.join([*when, *([first.gate] if first.gate else [])])}."
