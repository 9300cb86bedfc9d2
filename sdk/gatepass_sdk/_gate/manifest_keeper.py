"""The manifest on the device: fetched, followed by stream, kept sealed, and deleted when it has expired.

The whole one is kept as it came, and each change behind it, so that a change costs a few bytes on the disk. After many
the changes since the whole one are fetched at once, and replace them.
"""

import threading
from collections.abc import Callable
from contextlib import suppress
from typing import Final

from gatepass_sdk._base64url import decoded, encoded
from gatepass_sdk._gate.calls import GateCalls
from gatepass_sdk._gate.clock import GateClock
from gatepass_sdk._gate.manifest import InvalidManifest, Manifest
from gatepass_sdk._gate.storage.database import GateDatabase
from gatepass_sdk._retry import RETRYABLE
from gatepass_sdk.errors import APIConnectionError, APIStatusError
from gatepass_sdk.tokens import CardKeys

# Each costs a few milliseconds when the gate starts.
MOST_CHANGES: Final = 100
# Where there is no stream, a gate is this far behind.
POLL_SECONDS: Final = 2.0
KEYS: Final = "manifest keys"


class ManifestKeeper:
    def __init__(self, database: GateDatabase, calls: GateCalls, clock: GateClock) -> None:
        self._database = database
        self._calls = calls
        self._clock = clock
        self._lock = threading.RLock()
        # The whole manifest as it came, what it has become, and how many changes lie between.
        self._whole: Manifest | None = None
        self._current: Manifest | None = None
        self._changes = 0
        self._hang_up: Callable[[], None] | None = None
        self._load()

    @property
    def current(self) -> Manifest | None:
        """The manifest; None if there is none, or it has expired, and then it is deleted."""
        manifest = self._current
        if manifest is not None and manifest.is_expired(self._clock.now()):
            self.forget()
            return None
        return manifest

    def refresh(self, event_id: str) -> bool:
        """Fetch what changed, or the whole manifest. Whether anything did."""
        with self._lock:
            self._require_keys()
            known = self.current
            if known is not None and known.header.event.id != event_id:
                self.forget()
                known = None
            if known is not None and self._changes >= MOST_CHANGES and self._whole is not None:
                return self._compact(event_id, self._whole)
            cursor, state = (None, None) if known is None else (known.header.cursor, known.header.state)
            body = self._calls.manifest(event_id, cursor, state)
            return body is not None and self._take(body, event_id)

    def follow(self, event_id: str, stop: threading.Event, *, is_current: Callable[[str], bool]) -> None:
        """Follow the stream until it ends, or poll if the service has no room for one more stream."""
        self.refresh(event_id)
        try:
            self._stream(event_id, stop, is_current)
        except APIStatusError as error:
            if error.status not in RETRYABLE:
                raise
            while not stop.wait(POLL_SECONDS) and is_current(event_id):
                self.refresh(event_id)

    def stop(self) -> None:
        """End the stream from another thread: it would be silent for up to 20 s otherwise."""
        if self._hang_up is not None:
            self._hang_up()

    def forget(self) -> None:
        with self._lock:
            self._whole = self._current = None
            self._changes = 0
            self._database.forget_manifest()

    def _stream(self, event_id: str, stop: threading.Event, is_current: Callable[[str], bool]) -> None:
        current = self.current
        if current is None:
            return
        with self._calls.changes(event_id, current.header.cursor) as (events, hang_up):
            self._hang_up = hang_up
            for name, body in events:
                if stop.is_set() or not is_current(event_id):
                    return
                with self._lock:
                    if name != "changes" or not self._take(body, event_id) or self._changes >= MOST_CHANGES:
                        self.refresh(event_id)

    def _take(self, body: bytes, event_id: str) -> bool:
        """Take a whole manifest or changes, verified. What does not fit is replaced by a whole manifest."""
        try:
            self._use(body, event_id)
        except InvalidManifest as error:
            if error.reason == "bad_signature":
                # The organization's key may have been rotated since.
                self._fetch_keys()
            whole = self._calls.manifest(event_id, None, None)
            if whole is None:
                return False
            try:
                self._use(whole, event_id)
            except InvalidManifest as again:
                raise APIConnectionError(str(again)) from again
        return True

    def _use(self, body: bytes, event_id: str) -> None:
        keys, known = self._keys("now"), self._current
        if known is not None and known.header.event.id == event_id:
            try:
                self._current = known.apply(body, keys)
            except InvalidManifest as error:
                if error.reason != "wrong_kind":
                    raise
            else:
                self._changes += 1
                self._database.keep_manifest(self._changes, body)
                return
        self._whole = self._current = Manifest.read(body, keys, event_id=event_id)
        self._changes = 0
        self._database.keep_manifest(0, body)
        self._keep_keys(keys, ever=keys)

    def _compact(self, event_id: str, whole: Manifest) -> bool:
        """Everything since the whole manifest as one change, in place of many."""
        body = self._calls.manifest(event_id, whole.header.cursor, None)
        if body is None:
            return False
        try:
            self._current = whole.apply(body, self._keys("now"))
        except InvalidManifest:
            return self._take(body, event_id)
        self._database.keep_only_change(body)
        self._changes = 1
        return True

    def _load(self) -> None:
        """What is kept was verified before it was sealed. A part that does not fit leaves what came before it."""
        parts = self._database.manifest_parts()
        keys = self._keys("ever")
        with suppress(InvalidManifest):
            for part, body in enumerate(parts):
                if self._current is None:
                    self._whole = self._current = Manifest.read(body, keys)
                else:
                    self._current = self._current.apply(body, keys)
                self._changes = part

    def _require_keys(self) -> None:
        if not self._keys("now"):
            self._fetch_keys()

    def _fetch_keys(self) -> None:
        """Parts that are kept may be signed by a key that has been retired since: it is kept with them."""
        fetched = CardKeys.of(self._calls.card_keys()).keys
        self._keep_keys(fetched, ever=tuple({*self._keys("ever"), *fetched}))

    def _keep_keys(self, now: tuple[bytes, ...], *, ever: tuple[bytes, ...]) -> None:
        value = {"now": [encoded(key) for key in now], "ever": [encoded(key) for key in ever]}
        if value != self._database.setting(KEYS):
            self._database.keep_setting(KEYS, value)

    def _keys(self, which: str) -> tuple[bytes, ...]:
        kept = self._database.setting(KEYS)
        return () if kept is None else tuple(decoded(key) for key in kept[which])
