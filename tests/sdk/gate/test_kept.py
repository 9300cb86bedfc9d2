"""What a gate keeps, byte for byte: no name, no address; codes and numbers encrypted, and gone when acknowledged."""

import stat
import time
from base64 import b64encode
from pathlib import Path

from gatepass_sdk import Gate
from gatepass_sdk._gate.storage.store import GateStore
from tests.sdk.gate.network import Network, State
from tests.sdk.gate.venue import BY, HOLDER, Guest, Venue

NAME = HOLDER.get("name") or ""


def kept(directory: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in sorted(directory.iterdir())}


def opened(directory: Path) -> bytes:
    """Everything that is sealed in the database, opened with the gate's own key."""
    store = GateStore(directory, None)
    try:
        db, sealer = store.database._db, store.sealer
        parts = [sealer.opened(sealed, f"setting {name}") for name, sealed in db.execute("SELECT * FROM setting")]
        parts += [sealer.opened(sealed, f"manifest {part}") for part, sealed in db.execute("SELECT * FROM manifest")]
        scans = db.execute("SELECT idempotency_key, shown FROM scan WHERE shown IS NOT NULL").fetchall()
        parts += [sealer.opened(shown, f"scan {key}") for key, shown in scans]
        return b"\n".join(parts)
    finally:
        store.close()


def spellings(text: str) -> list[bytes]:
    """As text, without spaces, in base64 as tokens have it, and as UTF-16."""
    raw = text.encode()
    return [raw, raw.replace(b" ", b""), b64encode(raw).rstrip(b"="), text.encode("utf-16-le")]


def of_code(guest: Guest) -> list[bytes]:
    token = guest.token.encode()
    signature = token.rpartition(b".")[2]
    return [*spellings(guest.number), token, signature, guest.number[-4:].encode() + b'"']


def test_nothing_that_names_a_guest_can_be_read(venue: Venue, network: Network, directory: Path) -> None:
    with venue.gate(directory, network.url) as gate:
        assert gate.device is not None
        api_key, title = gate.device.api_key.encode(), b"Night"
        online, offline, typed = venue.guest(), venue.guest(), venue.guest()
        venue.known(gate, online, offline, typed)
        guests = [online, offline, typed]
        assert gate.scan(online.token).online
        network.becomes(State.DOWN)
        assert gate.scan(offline.token).admitted
        assert gate.scan(typed.number).admitted

        files = kept(directory)
        assert {"gate.db", "gate.key"} <= files.keys()
        whole = b"\n".join(files.values())
        for guest in guests:
            assert [code for code in of_code(guest) if code in whole] == []
        seed = gate._store.device_key.seed
        for secret in (api_key, seed, title, NAME.encode(), b"@example.com"):
            assert secret not in whole
        for path in directory.iterdir():
            assert stat.S_IMODE(path.stat().st_mode) & 0o077 == 0, path.name
        gate.close()

    # Sealed are the codes that wait, and nothing of a guest beyond them; what the service has answered is gone.
    inside = opened(directory)
    assert offline.token.encode() in inside
    assert typed.number.encode() in inside
    assert online.token.encode() not in inside
    assert b"Ada" not in inside
    assert b"@" not in inside.replace(b"\x00", b"").partition(b"SVCM")[0]
    for personal in (NAME, "example.com", BY):
        assert f'"{personal}"'.encode() not in inside

    network.becomes(State.UP)
    with Gate(directory) as gate:
        ends = time.monotonic() + 60
        while gate.upload().waiting:
            assert time.monotonic() < ends
    after = opened(directory)
    for guest in guests:
        assert [code for code in of_code(guest) if code in after] == []
    with Gate(directory) as gate:
        assert gate.retire().waiting == 0
        left = gate._store.database._db.execute("SELECT count(*) FROM manifest").fetchone()
        assert left == (0,)
    assert b"SVCM" not in opened(directory)


def test_what_was_deleted_is_overwritten(venue: Venue, network: Network, directory: Path) -> None:
    """Not even its encrypted form stays in the file or in SQLite's journal."""
    with venue.gate(directory, network.url) as gate:
        guest = venue.guest()
        venue.known(gate, guest)
        network.becomes(State.DOWN)
        assert gate.scan(guest.token).admitted
        ((sealed,),) = gate._store.database._db.execute("SELECT shown FROM scan").fetchall()
        assert any(sealed in content for content in kept(directory).values())
        network.becomes(State.UP)
        gate._paired.connection.works()
        ends = time.monotonic() + 60
        while gate.upload().waiting:
            assert time.monotonic() < ends
        assert [name for name, content in kept(directory).items() if sealed[:64] in content] == []
