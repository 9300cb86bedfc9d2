"""`gatepass` without one of its rules: `python -m tests.gate.simulator.mutants.service 0 serve --port 8000`."""

import os
import subprocess
import sys
from datetime import datetime
from typing import Any, Final

from gatepass.cli.main import run
from gatepass.domain.journal import reading
from gatepass.domain.journal.entry import JournalEntry
from gatepass.domain.journal.uploader import Uploader
from gatepass.domain.manifest import changed_cards
from tests.gate.simulator.mutants.name_mutant import NameMutant
from tests.processes import GatepassProcess, wait_until_ready


def uncorrected(self: Uploader, occurred_at: datetime, received_at: datetime) -> datetime:
    return min(occurred_at, received_at)


def as_received(self: Uploader, occurred_at: datetime, received_at: datetime) -> datetime:
    return received_at


def believed(*_: Any) -> bool:
    return True


SERVICE: Final = (
    NameMutant("the clock of a device is corrected", Uploader, "corrected", uncorrected),
    NameMutant("rules count at the time of the scan, not of the upload", Uploader, "corrected", as_received),
    NameMutant("an entry is signed by its device", JournalEntry, "is_signed_by", believed),
    NameMutant("a stolen device that is found uses no ticket", reading, "DISTRUSTED", None),
    NameMutant(
        "a changed card changes the manifest",
        changed_cards,
        "CHANGES",
        changed_cards.CHANGES.replace("'card'", "'none'"),
    ),
)


def serve_mutant(number: int, environment: dict[str, str], port: int) -> GatepassProcess:
    process = subprocess.Popen(
        [sys.executable, "-m", __name__, str(number), "serve", "--port", str(port)],
        env={**os.environ, "GATEPASS_PUBLIC_URL": f"http://127.0.0.1:{port}", **environment},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )
    server = GatepassProcess(process, port)
    wait_until_ready(server)
    return server


if __name__ == "__main__":
    SERVICE[int(sys.argv.pop(1))].apply()
    run()
