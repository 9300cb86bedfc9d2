"""The manifest of one event, for all devices that this process serves: read once, then advanced by what changed.

Devices that ask get it at most FRESH seconds old. While streams are open, it is read every TICK seconds. Once a minute
all of it is made anew in the snapshot of a reading, and compared: that finds what the audit log does not tell.
"""

import asyncio
import time
from collections import OrderedDict, deque
from collections.abc import Collection
from contextvars import Context
from dataclasses import dataclass
from typing import Final, NamedTuple
from uuid import UUID

from gatepass.api.manifests.source import EventRef, ManifestSource, Reading
from gatepass.base.errors import NotNow, Overloaded, Refusal
from gatepass.base.log import logger
from gatepass.domain.manifest import Cursor

# Seconds. A device that asks in a loop reads nothing new more often than this.
FRESH: Final = 1.0
# Seconds between two readings while streams are open: a scan is with every device within 2.
TICK: Final = 1.5
# Seconds that a call waits for a manifest that is being made, for itself or for another device.
WAIT: Final = 20.0
# The cursors of the last readings, each with what changed since: a device that is this close behind costs no query.
REMEMBERED: Final = 128
# Encoded answers that are kept until the next change. Devices of one event mostly have the same cursor.
MOST_ENCODED: Final = 64

log = logger(__name__)

__all__ = ["Answer", "EventRef", "Follower", "Listener"]


class Answer(NamedTuple):
    """`body` is empty if nothing has changed. The rest is what the device has afterwards."""

    body: bytes
    state: str
    cursor: str
    version: int
    epoch: int


@dataclass(eq=False)
class Listener:
    """A stream. It is woken when there is something to send, or when it has to end."""

    key_id: UUID
    woken: asyncio.Event
    ended: bool = False


@dataclass(frozen=True, slots=True)
class _Step:
    """What changed with a version. A version is a reading that differs from the one before."""

    version: int
    hashes: frozenset[bytes]


class Follower:
    def __init__(self, source: ManifestSource) -> None:
        self._source = source
        self._reading: Reading | None = None
        self._read_at = 0.0
        self._task: asyncio.Task[None] | None = None
        self._watching: asyncio.Task[None] | None = None
        self._steps: deque[_Step] = deque(maxlen=REMEMBERED)
        self._versions: OrderedDict[str, int] = OrderedDict()
        self._encoded: dict[int | str, bytes] = {}
        self._closed = False
        self.listeners: set[Listener] = set()
        # It counts the readings that differ; 0 before the first one. `epoch` counts those that only a whole follows.
        self.version = 0
        self.epoch = 0
        self.asked_at = time.monotonic()

    @property
    def size(self) -> int:
        return 0 if self._reading is None else len(self._reading.manifest.records.body)

    async def refresh(self) -> Reading:
        """The manifest, at most FRESH seconds old. Calls that come meanwhile wait for the same reading."""
        self.asked_at = time.monotonic()
        if self._reading is None or self.asked_at - self._read_at >= FRESH:
            if self._task is None or self._task.done():
                # In a context of its own: the deadline of the first call must not end it for all.
                self._task = asyncio.get_running_loop().create_task(self._read(), context=Context())
                self._task.add_done_callback(_heard)
            try:
                await asyncio.wait_for(asyncio.shield(self._task), WAIT)
            except TimeoutError:
                raise Overloaded(cause="manifests") from None
        assert self._reading is not None  # noqa: S101  read, or refused
        return self._reading

    async def whole(self) -> Answer:
        reading = await self.refresh()
        body = reading.manifest.whole(cursor=reading.cursor_text, key=reading.key, at=reading.at)
        return self._answer(reading, body)

    async def after(self, text: str, cursor: Cursor) -> Answer | None:
        """What changed since this cursor; None if only the whole manifest will do."""
        reading = await self.refresh()
        if not reading.manifest.may_follow(cursor) or self._source.is_too_old(cursor):
            return None
        body = self.since(self._versions[text]) if text in self._versions else self._encoded.get(text)
        if body is not None:
            return self._answer(reading, body)
        # The reading comes first: then all that changed up to it is among what the query finds.
        answer = self._answer(reading, b"")
        hashes = await self._source.changed_since(reading.manifest, cursor)
        if hashes or cursor.content != reading.manifest.content_digest:
            answer = answer._replace(body=_changes(reading, hashes))
        if answer.version == self.version:
            self._remember(text, answer.body)
        return answer

    async def unchanged(self, cursor: Cursor, known_states: Collection[str]) -> Answer | None:
        """The new cursor of a device that has the same records by one which cannot be followed, as after a failover."""
        reading = await self.refresh()
        ours, theirs = reading.manifest, (cursor.base, cursor.content)
        if ours.state in known_states and theirs == (ours.base, ours.content_digest):
            return self._answer(reading, b"")
        return None

    def since(self, version: int) -> bytes | None:
        """The changes since a version, encoded once for all: empty if there are none, None if they are forgotten."""
        if version == self.version:
            return b""
        body = self._encoded.get(version)
        if body is None:
            steps = [step for step in self._steps if step.version > version]
            if len(steps) != self.version - version:
                return None
            assert self._reading is not None  # noqa: S101  a version was read
            body = _changes(self._reading, set[bytes]().union(*(step.hashes for step in steps)))
            self._remember(version, body)
        return body

    def join(self, listener: Listener) -> None:
        self.listeners.add(listener)
        if self._watching is None or self._watching.done():
            self._watching = asyncio.get_running_loop().create_task(self._watch(), context=Context())

    def leave(self, listener: Listener) -> None:
        self.listeners.discard(listener)

    def wake(self) -> None:
        for listener in self.listeners:
            listener.woken.set()

    async def close(self) -> None:
        self._closed = True
        for task in (self._watching, self._task):
            if task is not None:
                task.cancel()
                await asyncio.wait([task])

    def _answer(self, reading: Reading, body: bytes) -> Answer:
        return Answer(body, reading.manifest.state, reading.cursor_text, self.version, self.epoch)

    def _remember(self, key: int | str, body: bytes) -> None:
        if len(self._encoded) >= MOST_ENCODED:
            self._encoded.clear()
        self._encoded[key] = body

    async def _watch(self) -> None:
        """Read on while streams are open, and end those whose key has ended."""
        while self.listeners and not self._closed:
            began = time.monotonic()
            try:
                await self.refresh()
                await self._source.end_listeners(self.listeners)
            except NotNow as refusal:  # the database is away or busy
                log.warning("manifest not read", code=refusal.code)
            except Refusal:  # the event is over, or gone
                self._end_all()
            except Exception:
                log.exception("manifest not read")
            await asyncio.sleep(max(TICK - (time.monotonic() - began), TICK / 4))

    def _end_all(self) -> None:
        for listener in self.listeners:
            listener.ended = True
        self.wake()

    async def _read(self) -> None:
        began = time.monotonic()
        reading, hashes = await self._source.next(self._reading)
        last, self._reading, self._read_at = self._reading, reading, began
        if hashes is None:
            self.epoch += 1
            self._steps.clear()
            self._versions.clear()
        if hashes is None or hashes or last is None or _says_else(last, reading):
            self.version += 1
            self._steps.append(_Step(self.version, frozenset(hashes or ())))
            self._encoded.clear()
            self.wake()
        self._versions[reading.cursor_text] = self.version
        while len(self._versions) > REMEMBERED:
            self._versions.popitem(last=False)


def _changes(reading: Reading, hashes: set[bytes]) -> bytes:
    return reading.manifest.changes(hashes, cursor=reading.cursor_text, key=reading.key, at=reading.at)


def _says_else(last: Reading, reading: Reading) -> bool:
    """Whether the header says something else of the event, though no record differs."""
    return last.manifest.content_digest != reading.manifest.content_digest


def _heard(task: asyncio.Task[None]) -> None:
    """Nobody may be waiting any more: a failure is not to be reported as one that nobody has heard of."""
    if not task.cancelled():
        task.exception()
