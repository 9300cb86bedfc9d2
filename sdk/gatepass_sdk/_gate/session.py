"""A paired device at work: its scans, its heartbeats, its uploads, and what ends it."""

import threading
from collections.abc import Generator
from contextlib import contextmanager, suppress
from datetime import timedelta
from typing import Final

import httpx2

from gatepass_sdk._gate.calls import GateCalls, Pulse
from gatepass_sdk._gate.code import Code, read_code
from gatepass_sdk._gate.connection import Connection
from gatepass_sdk._gate.device import RETIRED, REVOKED, Device
from gatepass_sdk._gate.echo import Echoes
from gatepass_sdk._gate.manifest_keeper import ManifestKeeper
from gatepass_sdk._gate.pairing import API_PATH
from gatepass_sdk._gate.scanner import Scanner
from gatepass_sdk._gate.shown import Shown
from gatepass_sdk._gate.storage.store import GateStore
from gatepass_sdk._gate.uploader import Uploaded, Uploader
from gatepass_sdk._settings import Settings
from gatepass_sdk.errors import (
    APIConnectionError,
    APIStatusError,
    DeviceRevoked,
    GatepassError,
    PermissionDenied,
    RateLimited,
    ServerError,
)

# The service stores an offset at most every 5 s, and a second is the delay of two answers.
CLOCKS_AGREE: Final = timedelta(seconds=3)
# Before a stream that broke is opened again.
FOLLOW_AGAIN_SECONDS: Final = 1.0


class Session:
    def __init__(self, store: GateStore, device: Device, http: httpx2.Client) -> None:
        self._store = store
        self.device = device
        self.journal = store.journal
        self.connection = Connection()
        self._calls = GateCalls(http, Settings.of(device.api_key, device.url + API_PATH, allow_http=device.allow_http))
        self.manifests = ManifestKeeper(store.database, self._calls, store.clock)
        self._key = store.device_key
        self._scanner = Scanner(self._key, store.journal, self._calls, self.connection, self.manifests, store.clock)
        self._uploader = Uploader(store.journal, self._calls, store.clock, self._key, device.id)
        self._echoes = Echoes()
        self._upload_lock = threading.Lock()
        # Whether the service knows the offset of the clock with which the waiting entries were made.
        self._offset_is_known = False
        self._is_over = False

    def end(self) -> None:
        """The device was paired again: what an answer to the old key says is not kept any more."""
        self._is_over = True

    def scan(self, shown: str, reader: str) -> Shown:
        code = read_code(shown)
        if code is None:
            return Shown.of("unreadable")
        answer = self._echoes.answer(reader, code.echo)
        if answer is not None:
            return answer
        device = self.device
        answer = self._judge(code, device)
        if device.admits and answer.verdict in ("event_not_found", "device_ended"):
            # The device may have been moved to another event or gate a moment ago.
            self._learn()
            if self.device.admits and self.device != device:
                answer = self._judge(code, self.device)
        self._echoes.remember(reader, code.echo, answer)
        return answer

    def _judge(self, code: Code, device: Device) -> Shown:
        if not device.admits:
            return Shown.of("device_ended")
        card = self._store.sealer.mark(device.event_id, code.number)
        try:
            return self._scanner.scan(code, card, device)
        except (DeviceRevoked, PermissionDenied):
            return Shown.of("device_ended")

    def heartbeat(self) -> Pulse:
        """Measure the clock, and take over what the service says about this device."""
        clock = self._store.clock
        began = clock.now()
        try:
            with self._ending():
                pulse = self._calls.heartbeat(began, self.journal.count_waiting())
        except (APIConnectionError, ServerError) as error:
            self.connection.failed(clock.now(), error)
            raise
        except APIStatusError:
            self.connection.works()
            raise
        self.connection.works()
        self._scanner.answer_within = pulse.answer_within
        offset = began + (clock.now() - began) / 2 - pulse.now
        stored = timedelta(milliseconds=pulse.measured_ms or 0)
        self._offset_is_known = abs(stored - offset) <= CLOCKS_AGREE
        if self.journal.count_waiting() == 0 and clock.corrected(offset):
            self._store.keep_clock()
            self._offset_is_known = False
        known = dict(pulse.device)
        if not self.device.admits:
            # Only pairing again begins anew what has ended.
            del known["status"]
        self._take(self.device.moved(known))
        return pulse

    def upload(self) -> Uploaded:
        """The service corrects the times of entries by the offset that it measured: it must know the present one."""
        with self._upload_lock:
            if not self._offset_is_known:
                try:
                    self.heartbeat()
                except (APIConnectionError, ServerError, RateLimited) as error:
                    return Uploaded(waiting=self.journal.count_waiting(), stopped_by=error)
                if not self._offset_is_known:
                    return Uploaded(waiting=self.journal.count_waiting())
            with self._ending():
                return self._uploader.run()

    def refresh(self) -> bool:
        with self._ending():
            return self.manifests.refresh(self.device.event_id)

    def follow(self, stop: threading.Event) -> None:
        """Until `stop` is set, or the device may no longer admit. Another event is followed as soon as it is known."""
        while not stop.is_set() and self.device.admits and not self._is_over:
            try:
                self.manifests.follow(self.device.event_id, stop, is_current=self._works_for)
            except (APIConnectionError, APIStatusError):
                # A stream may break where other calls get through, and a device may have been moved or ended.
                self._learn()
            except GatepassError:
                # A full disk, for instance: the next scan says so, and this is tried again.
                pass
            is_offline = self.connection.offline_since is not None
            stop.wait(self.connection.pause if is_offline else FOLLOW_AGAIN_SECONDS)

    def retire(self) -> None:
        self._take(self.device.moved({"status": RETIRED}))

    def _works_for(self, event_id: str) -> bool:
        return self.device.admits and self.device.event_id == event_id and not self._is_over

    def _learn(self) -> None:
        """Ask what became of this device. Without an answer nothing is known."""
        with suppress(GatepassError):
            self.heartbeat()

    def _take(self, device: Device) -> None:
        if self._is_over or device == self.device:
            return
        if device.event_id != self.device.event_id or not device.admits:
            self.manifests.forget()
        self._store.keep_device(device)
        self.device = device

    @contextmanager
    def _ending(self) -> Generator[None]:
        """Two words of the service end the device: that it was revoked, or that its key is left only the upload."""
        try:
            yield
        except DeviceRevoked:
            self._take(self.device.moved({"status": REVOKED}))
            raise
        except PermissionDenied as error:
            if error.code == "insufficient_scope" and self.device.admits:
                self._take(self.device.moved({"status": RETIRED}))
            raise
