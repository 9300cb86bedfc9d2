"""What a manifest says of its event: times, rules, categories, the keys of its codes. It names no person.

It is read in the snapshot of the records. Its digest is in every cursor, so that a device which has all records still
learns that the doors open later.
"""

import hashlib
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, Final
from uuid import UUID

import msgspec

from gatepass.base.database import Tx
from gatepass.domain.cards.token import PublicKey
from gatepass.domain.events import EventNotFound
from gatepass.domain.manifest.cursor import Server

# A manifest is personal data: a device forgets it so long after the event's end.
KEPT_AFTER_END: Final = timedelta(hours=6)


class ManifestEvent(msgspec.Struct, frozen=True):
    id: UUID
    title: str
    starts_at: datetime
    ends_at: datetime
    status: str
    doors_open_at: datetime | None
    codes: str
    offline: str


class ManifestCategory(msgspec.Struct, frozen=True):
    """Its place in the list is the category of a record."""

    id: UUID
    name: str
    tier: str
    valid_from: datetime | None
    valid_until: datetime | None
    gates: list[str] | None


@dataclass(frozen=True, slots=True)
class Content:
    """`keys` verify the codes of cards, newest first; the first signs the manifest."""

    event: ManifestEvent
    categories: tuple[ManifestCategory, ...]
    keys: tuple[PublicKey, ...]
    salt: bytes

    @property
    def category_ids(self) -> list[UUID]:
        return [category.id for category in self.categories]

    @property
    def expires_at(self) -> datetime:
        return self.event.ends_at + KEPT_AFTER_END

    def base(self) -> str:
        """Without the same salt and the same order of categories, records mean something else."""
        ids = b"".join(category.id.bytes for category in self.categories)
        return hashlib.sha256(self.event.id.bytes + self.salt + ids).hexdigest()[:16]

    def digest(self) -> str:
        keys = [[str(key.id), key.public_key.hex()] for key in self.keys]
        plain: list[Any] = [self.event, self.categories, keys, self.salt.hex()]
        return hashlib.sha256(msgspec.json.encode(plain)).hexdigest()[:16]


@dataclass(frozen=True, slots=True)
class Situation:
    """The content of a manifest, and the snapshot in which it was read. `salt` is None before the first manifest."""

    content: Content | None
    server: Server
    snapshot: str


async def read_situation(tx: Tx, organization_id: UUID, event_id: UUID) -> Situation:
    """The event as this snapshot has it. Without a salt or a key it has no content yet: `prepare` gives it both."""
    (row,) = await tx.rows(SITUATION, organization_id, event_id)
    if row["event"] is None:
        raise EventNotFound
    keys = tuple(PublicKey(id, raw) for id, raw in zip(row["key_ids"] or (), row["public_keys"] or (), strict=True))
    content = None
    if row["salt"] is not None and keys:
        content = Content(
            event=msgspec.json.decode(row["event"], type=ManifestEvent),
            categories=msgspec.json.decode(row["categories"], type=tuple[ManifestCategory, ...]),
            keys=keys,
            salt=row["salt"],
        )
    return Situation(content, Server(row["system"], row["timeline"]), row["snapshot"])


# The first 8 digits of a WAL file's name are the timeline that is written now. The control file would have that of the
# last checkpoint, which may be older than a failover. Categories that were removed have no ticket in use.
SITUATION: Final = """
    SELECT pg_current_snapshot()::text AS snapshot,
           (SELECT system_identifier FROM pg_control_system()) AS system,
           ('x' || substring(pg_walfile_name(pg_current_wal_lsn()) FROM 1 FOR 8))::bit(32)::bigint AS timeline,
           (SELECT row_to_json(x)
              FROM (SELECT e.id, e.title, e.starts_at, e.ends_at, e.status, e.doors_open_at, e.codes, e.offline
                      FROM event e
                     WHERE e.organization_id = $1
                       AND e.id = $2) x)::text AS event,
           (SELECT coalesce(json_agg(x), '[]')
              FROM (SELECT k.id, k.name, k.tier, k.valid_from, k.valid_until, k.gates
                      FROM ticket_category k
                     WHERE k.organization_id = $1
                       AND k.event_id = $2
                       AND (k.removed_at IS NULL OR k.quantity_sold > 0)
                     ORDER BY k.id) x)::text AS categories,
           (SELECT m.salt FROM event_manifest m WHERE m.organization_id = $1 AND m.event_id = $2) AS salt,
           s.key_ids, s.public_keys
      FROM (SELECT array_agg(y.id ORDER BY y.created_at DESC, y.id DESC) AS key_ids,
                   array_agg(y.public_key ORDER BY y.created_at DESC, y.id DESC) AS public_keys
              FROM signing_key y
             WHERE y.organization_id = $1
               AND y.retired_at IS NULL) s
"""
