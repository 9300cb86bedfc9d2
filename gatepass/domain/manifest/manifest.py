"""The manifest of an event as one snapshot has it, and the next one: read whole, or advanced by what changed.

All statements of one reading run in one snapshot. The caller opens that transaction with `repeatable_read`.
"""

from dataclasses import dataclass
from datetime import datetime
from functools import cached_property
from typing import Final
from uuid import UUID

from nacl.signing import SigningKey

from gatepass.base.database import Tx
from gatepass.base.encryption import Vault
from gatepass.domain.cards.signing_keys import newest_key
from gatepass.domain.events import EventNotActive
from gatepass.domain.manifest import header, records, salt
from gatepass.domain.manifest.changed_cards import read_changes
from gatepass.domain.manifest.content import Content, read_situation
from gatepass.domain.manifest.cursor import Cursor, Server
from gatepass.domain.manifest.header import Kind
from gatepass.domain.manifest.records import Records
from gatepass.domain.manifest.whole import read_whole


class NotPreparedError(Exception):
    """The event has no salt yet, or its organization no key that signs: call `prepare`."""


class ForeignServerError(Exception):
    """Another server, timeline, salt or order of categories: only a whole manifest will do."""


@dataclass(frozen=True)
class Manifest:
    content: Content
    server: Server
    snapshot: str
    records: Records

    @cached_property
    def state(self) -> str:
        """The digest of all records, by which a device knows that it missed nothing."""
        return records.digest(self.records.body)

    @cached_property
    def base(self) -> str:
        return self.content.base()

    @cached_property
    def content_digest(self) -> str:
        return self.content.digest()

    def cursor(self, since: datetime) -> Cursor:
        return Cursor(self.server, self.base, self.content_digest, since, self.snapshot)

    def may_follow(self, cursor: Cursor) -> bool:
        """Whether changes since this cursor mean something: it is of this server, event, salt and past."""
        ours = (self.server, self.base) == (cursor.server, cursor.base)
        return ours and cursor.next_transaction <= int(self.snapshot.split(":")[1])

    def whole(self, *, cursor: str, key: SigningKey, at: datetime) -> bytes:
        return self._written(Kind.MANIFEST, self.records.body, cursor, key, at)

    def changes(self, hashes: set[bytes], *, cursor: str, key: SigningKey, at: datetime) -> bytes:
        """The records of these cards as they are now."""
        return self._written(Kind.CHANGES, self.records.select(hashes), cursor, key, at)

    def _written(self, kind: Kind, sent: bytes, cursor: str, key: SigningKey, at: datetime) -> bytes:
        return header.written(kind, self.content, sent, state=self.state, cursor=cursor, key=key, at=at)


async def prepare(tx: Tx, organization_id: UUID, event_id: UUID, vault: Vault, *, at: datetime) -> SigningKey:
    """Give the event a salt, if it has none; the key that signs. A twin gets its first one here."""
    await salt.draw(tx, organization_id, event_id, at=at)
    return await newest_key(tx, organization_id, vault, at=at)


async def read(tx: Tx, organization_id: UUID, event_id: UUID, *, at: datetime) -> Manifest:
    """The manifest, made anew. It raises CollisionError if the salt has to be drawn again."""
    situation = await read_situation(tx, organization_id, event_id)
    if situation.content is None:
        raise NotPreparedError
    require_current(situation.content, at)
    found = await read_whole(tx, organization_id, event_id, situation.content)
    return Manifest(situation.content, situation.server, situation.snapshot, found)


async def advance(
    tx: Tx, organization_id: UUID, event_id: UUID, last: Manifest, *, since: datetime, at: datetime
) -> tuple[Manifest, set[bytes]]:
    """The manifest now, and the hashes of the cards that differ from the last one."""
    situation = await read_situation(tx, organization_id, event_id)
    content = situation.content
    if content is None:
        raise NotPreparedError
    require_current(content, at)
    if (situation.server, content.base()) != (last.server, last.base):
        raise ForeignServerError
    changed = await read_changes(tx, organization_id, event_id, content, seen=last.snapshot, since=since)
    found, differing = last.records.apply(changed)
    return Manifest(content, situation.server, situation.snapshot, found), differing


def require_current(content: Content, at: datetime) -> None:
    """A manifest is not made once devices would have to forget it at once."""
    if content.expires_at <= at:
        raise EventNotActive(EXPIRED)


EXPIRED: Final = "This event is over: its manifest has expired."
