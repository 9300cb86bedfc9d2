"""A gate that keeps admitting: it asks the service first, and decides itself when there is no answer.

    with Gate("north-2") as gate:
        gate.pair("A7K3-9QXM-2P", url="https://gatepass.example", name="North 2", on_words=print)   # once
        with gate.working():                     # follows the manifest, sends heartbeats, uploads the journal
            shown = gate.scan(code)
            print(shown.colour, shown.word, shown.message)

When `scan` returns green, the admission is on the disk or with the service. What the device decided is uploaded once,
however often the process is killed. It needs `pip install 'gatepass-sdk[gate]'`.
"""

import threading
import time
from collections.abc import Callable, Generator
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass
from datetime import datetime, timedelta
from os import PathLike
from pathlib import Path
from types import TracebackType
from typing import Final, Self

import httpx2

from gatepass_sdk._gate.clock import system_time
from gatepass_sdk._gate.device import Device
from gatepass_sdk._gate.pairing import OnWords, PairingClient
from gatepass_sdk._gate.session import Session
from gatepass_sdk._gate.shown import First, Shown
from gatepass_sdk._gate.storage.journal import Rejected
from gatepass_sdk._gate.storage.store import GateStore
from gatepass_sdk._gate.uploader import Uploaded
from gatepass_sdk._transport import DIRECT
from gatepass_sdk.errors import GateError, GatepassError

# How often a gate says that it lives, and looks whether something waits to be uploaded.
HEARTBEAT_SECONDS: Final = 15.0
UPLOAD_SECONDS: Final = 2.0
# The threads end between two calls. They do not keep the process alive.
ENDS_WITHIN: Final = 5.0


@dataclass(frozen=True, kw_only=True)
class GateStatus:
    """A gate's state, as its screen shows it.

    `device` is None before it is paired. `clock_offset` is how far the machine's clock is ahead: the gate corrects it.
    `cards` is how many the manifest knows.
    """

    device: Device | None
    offline_since: datetime | None
    # The service that answered last does not know this device: people have to mend that. The gate asks again.
    device_unknown: bool
    waiting: int
    last_sequence: int
    rejected: tuple[Rejected, ...]
    clock_offset: timedelta
    manifest_issued_at: datetime | None
    manifest_expires_at: datetime | None
    cards: int | None

    @classmethod
    def of(cls, store: GateStore, session: Session | None) -> "GateStatus":
        manifest = None if session is None else session.manifests.current
        return cls(
            device=None if session is None else session.device,
            offline_since=None if session is None else session.connection.offline_since,
            device_unknown=session is not None and session.connection.unknown,
            waiting=store.journal.count_waiting(),
            last_sequence=store.journal.last_sequence(),
            rejected=tuple(store.journal.rejected()),
            clock_offset=store.clock.correction,
            manifest_issued_at=None if manifest is None else manifest.header.issued_at,
            manifest_expires_at=None if manifest is None else manifest.header.expires_at,
            cards=None if manifest is None else len(manifest),
        )


class Gate:
    """One device in one directory, used by one process at a time; threads may share it.

    The directory keeps no name and no address of a guest. Codes, card numbers, the manifest and the device's own keys
    are encrypted under the key in `key_file` (by default `gate.key` in the directory, readable by its owner only). That
    protects a copy of the database alone: who takes both files has both, so keep the key file elsewhere, or encrypt the
    disk. Codes and numbers are deleted when the service has acknowledged them.
    """

    def __init__(
        self,
        directory: str | PathLike[str],
        *,
        key_file: str | PathLike[str] | None = None,
        clock: Callable[[], datetime] = system_time,
        http_client: "httpx2.Client | None" = None,
    ) -> None:
        """Open the directory, or create it. Raises `GateInUse` if another process works with it."""
        with ExitStack() as ending:
            self._store = GateStore(
                Path(directory).absolute(), None if key_file is None else Path(key_file), clock=clock
            )
            ending.callback(self._store.close)
            ending.enter_context(self._store.exclusive())
            self._http = http_client or ending.enter_context(httpx2.Client(mounts=DIRECT))
            device = self._store.device
            self._session = None if device is None else Session(self._store, device, self._http)
            self._ending = ending.pop_all()

    def pair(
        self, code: str, *, url: str, name: str, on_words: OnWords | None = None, allow_http: bool = False
    ) -> Device:
        """Pair this device with the code that the studio shows, and wait until a person has confirmed it.

        `on_words` gets the two words, to be shown: the studio shows the same two, and the person compares them. A
        device that was paired before keeps its own key and its journal. Raises `PairingEnded` if it is refused.
        """
        client = PairingClient(url, self._store.device_key, self._store.clock, self._http, allow_http=allow_http)
        paired = client.pair(code, name, on_words)
        self._store.keep_clock()
        device = Device.of(paired.device, url=client.root, api_key=paired.api_key, allow_http=allow_http)
        if self._session is not None:
            self._session.end()
        self._store.keep_device(device)
        self._session = Session(self._store, device, self._http)
        return device

    @property
    def device(self) -> Device | None:
        """The device as it is paired; None before."""
        return None if self._session is None else self._session.device

    def scan(self, shown: str, *, reader: str = "") -> Shown:
        """Judge what a reader read: a token, a phone's code, or a typed number. It takes a little over 1.5 s at most.

        The same code at the same `reader` within 3 s is an echo, and gets the same answer. Raises `QueueError` if the
        directory cannot be written: then nobody was let in.
        """
        return self._paired.scan(shown, reader)

    def heartbeat(self) -> GateStatus:
        """Tell the service that this gate lives; learn the time, the assignment, and whether it may still admit."""
        self._paired.heartbeat()
        return self.status()

    def refresh(self) -> bool:
        """Fetch the manifest, or what changed in it, once. Whether anything did."""
        return self._paired.refresh()

    def follow(self, stop: threading.Event | None = None) -> None:
        """Keep the manifest at most 2 s old, until `stop` is set. For a thread of its own: see `working`.

        A network that is down is no error: it is tried again. It returns when the device may no longer admit.
        """
        self._paired.follow(stop or threading.Event())

    def upload(self, *, again: bool = False) -> Uploaded:
        """Upload what the device decided. With `again` also what the service has rejected before.

        If the network is down, the rest stays and `stopped_by` has the error.
        """
        if again:
            self._paired.journal.try_rejected_again()
        return self._paired.upload()

    def retire(self) -> Uploaded:
        """Admit nobody any more: delete the manifest, and upload what waits. Only pairing again ends that."""
        self._paired.retire()
        return self.upload()

    def status(self) -> GateStatus:
        return GateStatus.of(self._store, self._session)

    @classmethod
    def status_of(cls, directory: str | PathLike[str], *, key_file: str | PathLike[str] | None = None) -> GateStatus:
        """The status of a directory with which another process may work."""
        store = GateStore(Path(directory).absolute(), None if key_file is None else Path(key_file), may_create=False)
        try:
            device = store.device
            with httpx2.Client(mounts=DIRECT) as http:
                return GateStatus.of(store, None if device is None else Session(store, device, http))
        finally:
            store.close()

    @contextmanager
    def working(self) -> Generator[None]:
        """Follow the manifest, send heartbeats and upload, in the background, as long as the block lasts."""
        stop = threading.Event()
        _ = self._paired  # a gate that is not paired says so here, and not in a thread
        tasks = {"gatepass-follow": self._keep_following, "gatepass-upload": self._keep_uploading}
        threads = [threading.Thread(target=task, args=[stop], name=name, daemon=True) for name, task in tasks.items()]
        for thread in threads:
            thread.start()
        try:
            yield
        finally:
            stop.set()
            self._paired.manifests.stop()
            for thread in threads:
                thread.join(ENDS_WITHIN)

    def close(self) -> None:
        """Close the directory. Everything stays in it."""
        self._ending.close()

    @property
    def _paired(self) -> Session:
        if self._session is None:
            raise GateError("This gate is not paired: call pair with the code that the studio shows.")
        return self._session

    def _keep_following(self, stop: threading.Event) -> None:
        """Also as the device that it is paired as meanwhile."""
        while not stop.is_set():
            self._paired.follow(stop)
            stop.wait(UPLOAD_SECONDS)

    def _keep_uploading(self, stop: threading.Event) -> None:
        """What the service refuses is seen in the status, and at the next scan."""
        next_heartbeat = 0.0
        while not stop.is_set():
            with suppress(GatepassError):
                if time.monotonic() >= next_heartbeat:
                    try:
                        self.heartbeat()
                    finally:
                        next_heartbeat = time.monotonic() + max(HEARTBEAT_SECONDS, self._paired.connection.pause)
                if self._store.journal.count_waiting() and not self._paired.connection.unknown:
                    self.upload()
            stop.wait(UPLOAD_SECONDS)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def __repr__(self) -> str:
        return f"Gate({str(self._store.directory)!r})"


__all__ = ["Device", "First", "Gate", "GateStatus", "Rejected", "Shown", "Uploaded"]
