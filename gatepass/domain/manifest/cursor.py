"""Cursors: up to which snapshot of which PostgreSQL a device knows the manifest of an event. Pure.

A snapshot says exactly what its device has seen, but only on the server and the timeline that took it: after a failover
or a restore, transaction ids count other transactions. A cursor is opaque to its device. It is not signed, because a
device that changes its own only gets other records of its own event.
"""

import re
from base64 import urlsafe_b64decode, urlsafe_b64encode
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Final, Self

from gatepass.base.errors import InvalidRequest

# A snapshot lists the transactions that run, at most one a connection: 12 characters each, 200 connections and more.
LONGEST: Final = 6_000
PATTERN: Final = re.compile(
    r"1\.([0-9]{1,20})\.([0-9]{1,10})\.([0-9a-f]{16})\.([0-9a-f]{16})\.([0-9]{1,15})"
    r"\.([0-9]{1,18}):([0-9]{1,18}):((?:[0-9]{1,18}(?:,[0-9]{1,18})*)?)",
    re.ASCII,
)


@dataclass(frozen=True, slots=True)
class Server:
    """Which PostgreSQL this is, and which of its histories. Both stay as they are until a failover or a restore."""

    system: int
    timeline: int


@dataclass(frozen=True, slots=True)
class Cursor:
    """`base` is the digest of salt and categories, without which records mean nothing; `content` that of the header.

    No scan that is not visible in `snapshot` has an earlier time than `since`.
    """

    server: Server
    base: str
    content: str
    since: datetime
    snapshot: str

    @property
    def next_transaction(self) -> int:
        """The first transaction id that was not assigned yet."""
        return int(self.snapshot.split(":")[1])

    def text(self) -> str:
        since = int(self.since.timestamp() * 1000)
        plain = f"1.{self.server.system}.{self.server.timeline}.{self.base}.{self.content}.{since}.{self.snapshot}"
        return urlsafe_b64encode(plain.encode()).rstrip(b"=").decode()

    @classmethod
    def parse(cls, text: str) -> Self:
        """The cursor of an answer. Everything that PostgreSQL would not take is refused here."""
        found = PATTERN.fullmatch(_decoded(text)) if len(text) <= LONGEST else None
        if found is None or not _is_snapshot(found[6], found[7], found[8]):
            raise InvalidRequest("after is the cursor of an answer.", param="after")
        return cls(
            Server(int(found[1]), int(found[2])),
            found[3],
            found[4],
            datetime.fromtimestamp(min(int(found[5]), LAST) / 1000, UTC),
            f"{found[6]}:{found[7]}:{found[8]}",
        )


# Milliseconds; the year 5138. Later times are no cursor of ours, but have to be told from them.
LAST: Final = 10**14


def _decoded(text: str) -> str:
    try:
        raw = urlsafe_b64decode(text + "=" * (-len(text) % 4))
        return raw.decode("ascii") if urlsafe_b64encode(raw).rstrip(b"=").decode() == text else ""
    except ValueError:
        return ""


def _is_snapshot(oldest: str, following: str, running: str) -> bool:
    """Whether PostgreSQL takes it: ids in ascending order, between the oldest that runs and the first that is free."""
    ids = [int(one) for one in running.split(",")] if running else []
    bounded = [int(oldest), *ids]
    return bounded[0] > 0 and bounded == sorted(bounded) and bounded[-1] < int(following) + (not ids)
