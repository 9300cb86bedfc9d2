"""A gate at work in the background, and the block of the README that is all of it."""

import os
import subprocess
import sys
import time
from pathlib import Path

from gatepass_sdk import Gate
from gatepass_sdk._gate.manifest_keeper import MOST_CHANGES
from tests.markdown_page import Page
from tests.sdk.gate.network import Network, State
from tests.sdk.gate.venue import WAIT_SECONDS, Guest, Venue

(BLOCK,) = [block for block in Page.of("sdk/README.md").blocks() if "import Gate\n" in block.text]


def wait_until_known(gate: Gate, guest: Guest, *, used: bool) -> None:
    """Without asking for it."""
    ends = time.monotonic() + WAIT_SECONDS
    while True:
        manifest = gate._paired.manifests.current
        record = manifest.find(guest.number) if manifest else None
        if record is not None and record.used is used:
            return
        assert time.monotonic() < ends
        time.sleep(0.05)


def test_a_gate_follows_what_happens_elsewhere(venue: Venue, gate: Gate, network: Network, directory: Path) -> None:
    with gate.working():
        guest = venue.guest()
        wait_until_known(gate, guest, used=False)
        venue.client.scans.create(venue.event_id, token=guest.token, gate="South")
        wait_until_known(gate, guest, used=True)
        network.becomes(State.DOWN)
        used = gate.scan(guest.token)
        assert (used.colour, used.verdict, used.online) == ("red", "already_activated", False)
        assert gate.status().offline_since is not None
    parts = gate._store.database.manifest_parts()
    assert len(parts) > 1
    gate.close()
    # What it followed is there after a start without a network.
    with Gate(directory) as again:
        wait_until_known(again, guest, used=True)


def test_many_changes_become_one(venue: Venue, gate: Gate, directory: Path) -> None:
    guests = [venue.guest()]
    venue.known(gate, *guests)
    guests.append(venue.guest())
    venue.known(gate, *guests)
    keeper, database = gate._paired.manifests, gate._store.database
    assert len(database.manifest_parts()) > 2
    keeper._changes = MOST_CHANGES
    assert gate.refresh()
    assert len(database.manifest_parts()) == 2
    venue.known(gate, *guests)
    gate.close()
    with Gate(directory) as again:
        wait_until_known(again, guests[1], used=False)


def test_the_block_of_the_readme_is_a_gate(venue: Venue, network: Network, tmp_path: Path) -> None:
    guest = venue.guest()
    venue.gate(tmp_path / "north-2", network.url).close()
    ran = subprocess.run(
        [sys.executable, "-W", "error", "-c", BLOCK.text],
        cwd=tmp_path,
        env={"PATH": os.environ["PATH"]},
        input=f"{guest.token}\n{guest.number}\n",
        capture_output=True,
        text=True,
        timeout=WAIT_SECONDS * 3,
        check=False,
    )
    assert ran.stdout == "green ENTER General\nred USED This ticket has already been used.\n", ran.stderr
