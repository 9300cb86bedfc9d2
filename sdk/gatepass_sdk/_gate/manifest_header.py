"""The header of a manifest: what it says of its event."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from gatepass_sdk._base64url import decoded
from gatepass_sdk._decode import Model, Unreadable, read


@dataclass(frozen=True)
class ManifestEvent(Model):
    """`offline` says whom a device without a network admits: `manifest`, `signature` or `stop`."""

    id: str
    title: str
    starts_at: datetime
    ends_at: datetime
    status: str
    doors_open_at: datetime | None
    codes: str
    offline: str


@dataclass(frozen=True)
class ManifestCategory(Model):
    """Records name it by `index`. Without `gates` its tickets open all of them."""

    index: int
    name: str
    tier: str
    valid_from: datetime | None
    valid_until: datetime | None
    gates: tuple[str, ...] | None


@dataclass(frozen=True)
class ManifestKey(Model):
    kid: str
    public_key: str


@dataclass(frozen=True)
class _Wire(Model):
    kind: str
    event: ManifestEvent
    salt: str
    categories: tuple[ManifestCategory, ...]
    card_keys: tuple[ManifestKey, ...]
    kid: str
    issued_at: datetime
    expires_at: datetime
    count: int
    digest: str
    state: str
    cursor: str


@dataclass(frozen=True)
class Header:
    """`card_keys` verify the codes of cards. `state` is the digest of all records, `cursor` what to ask with next."""

    kind: str
    event: ManifestEvent
    salt: bytes
    categories: tuple[ManifestCategory, ...]
    card_keys: tuple[bytes, ...]
    issued_at: datetime
    expires_at: datetime
    count: int
    digest: str
    state: str
    cursor: str


def _moments(wire: _Wire) -> Iterator[datetime]:
    event = wire.event
    each = [wire.issued_at, wire.expires_at, event.starts_at, event.ends_at, event.doors_open_at]
    for category in wire.categories:
        each += [category.valid_from, category.valid_until]
    return (moment for moment in each if moment is not None)


def read_header(value: Mapping[str, Any]) -> Header:
    """The header, or Unreadable. Fields that a later version adds are left out."""
    wire = read(_Wire, value)
    salt, keys = decoded(wire.salt), tuple(decoded(key.public_key) for key in wire.card_keys)
    if len(salt) != 32 or any(len(key) != 32 for key in keys):
        raise Unreadable("32 bytes were expected")
    if [category.index for category in wire.categories] != list(range(len(wire.categories))):
        raise Unreadable("categories in the order of their index were expected")
    if any(moment.tzinfo is None for moment in _moments(wire)):
        raise Unreadable("a time with an offset was expected")
    return Header(
        kind=wire.kind,
        event=wire.event,
        salt=salt,
        categories=wire.categories,
        card_keys=keys,
        issued_at=wire.issued_at,
        expires_at=wire.expires_at,
        count=wire.count,
        digest=wire.digest,
        state=wire.state,
        cursor=wire.cursor,
    )
