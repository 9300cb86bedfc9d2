"""A gate: the scanner and the journal of `gatepass_sdk.Gate`, with a clock that is wrong and a network that fails."""

from collections.abc import Iterable
from dataclasses import replace
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any, Final, cast
from uuid import uuid4

from gatepass_sdk._gate.calls import GateCalls
from gatepass_sdk._gate.clock import GateClock
from gatepass_sdk._gate.code import Code, read_code
from gatepass_sdk._gate.device import Device as KnownDevice
from gatepass_sdk._gate.manifest import InvalidManifest, Manifest
from gatepass_sdk._gate.manifest_keeper import ManifestKeeper
from gatepass_sdk._gate.scanner import Scanner
from gatepass_sdk._gate.shown import Shown
from gatepass_sdk._gate.signing import DeviceKey
from gatepass_sdk._gate.storage.database import GateDatabase
from gatepass_sdk._gate.storage.encryption import Sealer
from gatepass_sdk._gate.storage.entry import Entry
from gatepass_sdk._gate.storage.journal import Journal
from tests.gate.simulator.knowledge import Knowledge
from tests.gate.simulator.line import Line
from tests.gate.simulator.records import Shown as Seen
from tests.gate.simulator.scenario import Gate, Network, Show, Way
from tests.gate.simulator.world import Device, World

SEALING_KEY: Final = bytes(32)
MANIFEST_KNOWS_MS: Final = 60_000


class Manifests:
    """The manifest that the gate has. Its time is moved to that of the scenario."""

    current: Manifest | None = None


class Doorman:
    """`offset_ms` is what the service has measured of its clock."""

    def __init__(self, n: int, world: World, device: Device, line: Line, folder: Path) -> None:
        self.n = n
        self.world = world
        self.gate: Gate = world.scenario.gates[n]
        self.device = device
        self.line = line
        self.at = 0
        self.offset_ms = 0
        self.clock = GateClock(lambda: world.time(self.at + self.gate.clock_ms))
        self.sealer = Sealer(SEALING_KEY)
        self.database = GateDatabase(folder / f"{n}.db", self.sealer)
        self.journal = Journal(self.database)
        self.key = DeviceKey(device.seed)
        self.manifests = Manifests()
        self.knowledge: Knowledge | None = None
        self.followed_at = 0
        # The cards that it let in, and when the service had heard of it.
        self.admissions: dict[int, int | None] = {}
        self.scanner = self._scanner()
        # By their sequence: what a steward waved through after the service's refusal, and what the service has.
        self.waved: dict[int, Entry] = {}
        self.acknowledged: dict[int, Entry] = {}
        self.is_dead = self.is_stolen = self.is_retired = False

    def _scanner(self) -> Scanner:
        calls, manifests = cast("GateCalls", self.line), cast("ManifestKeeper", self.manifests)
        return Scanner(self.key, self.journal, calls, self.line.connection, manifests, self.clock)

    @property
    def known_device(self) -> KnownDevice:
        known = {"id": self.device.id, "name": f"reader {self.n + 1}", "event_id": self.world.event_id}
        return KnownDevice.of({**known, "gate": self.gate.name}, url="", api_key=self.device.key)

    @property
    def scans(self) -> bool:
        return not (self.is_dead or self.is_retired)

    @property
    def synchronizes(self) -> bool:
        return not (self.is_dead or self.is_stolen)

    def begin(self, show: Show, network: Network) -> None:
        self.at = show.at
        self.line.connection.network = network
        self.line.asked.clear()

    def scan(self, show: Show) -> Shown:
        """Called in a thread: it waits for the answers of the service."""
        code = read_code(self.world.code(show))
        assert code is not None
        return self.scanner.scan(code, self.mark(show), self.known_device)

    def expected(self, show: Show) -> str:
        """What it must say if nobody answers."""
        if self.knowledge is None:
            return "no_manifest"
        read = self.world.read_code(show)
        shown = Seen("", self.gate.name, read.card, self.world.since_opening(self.clock.now()), read.expires)
        return self.knowledge.verdict(shown, is_used_here=self._is_used_here(show), is_typed=show.way is Way.NUMBER)

    def _is_used_here(self, show: Show) -> bool:
        """A manifest that came well after the service had the admission knows of it, or that it was undone."""
        if show.card not in self.admissions:
            return False
        settled_at = self.admissions[show.card]
        return settled_at is None or self.followed_at < settled_at + MANIFEST_KNOWS_MS

    def mark(self, show: Show) -> bytes:
        return self.sealer.mark(str(self.world.event_id), self.world.numbers[show.card])

    def is_free_for(self, show: Show) -> bool:
        """Whether it would ask the service about this card at once, and once."""
        is_new = self.journal.admission(self.mark(show)) is None and self.journal.unsettled(self.mark(show)) is None
        return self.scans and not self.is_stolen and is_new

    def let_in(self, show: Show, *, is_settled: bool) -> str:
        """The key of the scan by which the guest came in."""
        self.admissions[show.card] = self.world.since_opening(self.clock.now()) if is_settled else None
        admission = self.journal.admission(self.mark(show))
        assert admission is not None
        return admission.idempotency_key

    def wave(self, said: Shown) -> Entry | None:
        """A steward lets the guest in against the screen: the last scan of the card says so from now on."""
        if said.online:
            refused = self.line.asked[-1]
        elif said.sequence is not None:
            refused = next((one for one in self.journal.waiting(10_000) if one.sequence == said.sequence), None)
        else:
            refused = None
        if refused is None or refused.uploaded_at is not None:
            return None
        sequence = self.journal.decided(
            refused, said.verdict, admitted=True, key=self.key, device_id=str(self.device.id)
        )
        signature = refused.signed(self.key, str(self.device.id), sequence, admitted=True)
        written = replace(refused, sequence=sequence, admitted=True, signature=signature)
        if said.online:
            self.waved[sequence] = written
        return written

    def waiting(self) -> list[Entry]:
        """What is to be uploaded, in the order of its sequence."""
        entries = {entry.sequence or 0: entry for entry in self.journal.waiting(10_000)} | self.waved
        return [entries[sequence] for sequence in sorted(entries)]

    def acknowledge(self, entries: Iterable[Entry], results: list[dict[str, Any]]) -> None:
        """The service has them, and the journal forgets their codes."""
        now = self.world.since_opening(self.clock.now())
        for entry in entries:
            self.acknowledged[entry.sequence or 0] = entry
            self.waved.pop(entry.sequence or 0, None)
            card = self.world.read(entry.body).named
            if entry.admitted and self.admissions.get(card, 0) is None:
                self.admissions[card] = now
        self.journal.acknowledged(results, at=self.clock.now())

    def real_time(self, now: datetime) -> str:
        """What its clock shows at this real moment, for a heartbeat."""
        shown = now + timedelta(milliseconds=self.gate.clock_ms) - self.clock.correction
        return shown.strftime("%Y-%m-%dT%H:%M:%S.%f")[:-3] + "Z"

    def measured(self, offset_ms: int) -> bool:
        """The service has measured its clock. Whether it corrects it: not while entries with the old time wait."""
        self.offset_ms = offset_ms
        return not self.waiting() and self.clock.corrected(timedelta(milliseconds=offset_ms))

    @property
    def cursor(self) -> str | None:
        return self.manifests.current.header.cursor if self.manifests.current else None

    def read(self, body: bytes) -> None:
        """Take a manifest or its changes over, as they came."""
        self.manifests.current = self._read(body)

    @property
    def manifest(self) -> Manifest:
        assert self.manifests.current is not None
        return self.manifests.current

    def _read(self, body: bytes) -> Manifest:
        if self.manifests.current is not None:
            try:
                return self.manifests.current.apply(body, self.world.public_keys)
            except InvalidManifest as error:
                if error.reason != "wrong_kind":
                    raise
        return Manifest.read(body, self.world.public_keys, event_id=str(self.world.event_id))

    def follow(self, knowledge: Knowledge, at: int) -> None:
        """From now on the manifest is of this time."""
        self.knowledge, self.followed_at = knowledge, at
        current = self.manifests.current
        assert current is not None
        self.manifests.current = replace(current, header=replace(current.header, issued_at=self.world.time(at)))

    def forged(self, number: str, *, reuses_sequence: bool) -> dict[str, Any] | None:
        """An entry that another key has signed, or another scan under a sequence that the service knows."""
        if reuses_sequence and not self.acknowledged:
            return None
        sequence = max(self.acknowledged) if reuses_sequence else self.journal.last_sequence() + 1
        made = Entry(
            id=0,
            idempotency_key=str(uuid4()),
            card=b"",
            event_id=str(self.world.event_id),
            gate=self.gate.name,
            scanner_id="",
            occurred_at=self.world.written(self.at),
            code=Code(None, number, number),
            was_sent=False,
            verdict=None,
            let_in=True,
            was_seen=True,
            sequence=sequence,
            admitted=True,
            signature=None,
            uploaded_at=None,
            settled_at=None,
        )
        key = self.key if reuses_sequence else DeviceKey.create()
        signature = made.signed(key, str(self.device.id), sequence, admitted=True)
        return replace(made, signature=signature).uploaded

    @property
    def missing(self) -> list[list[int]]:
        """The gaps in what the service has, first and last of each."""
        gaps: list[list[int]] = []
        for number in range(1, max(self.acknowledged, default=0)):
            if number in self.acknowledged:
                continue
            if gaps and gaps[-1][1] == number - 1:
                gaps[-1][1] = number
            else:
                gaps.append([number, number])
        return gaps
