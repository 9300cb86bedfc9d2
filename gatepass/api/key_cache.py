"""Keys that this process has read before: API keys, and the public keys that verify card tokens.

With both cached, a scan needs one round trip to the database and not three. The API keys that were used last are read
when the process starts, so that its first scans do not wait for theirs. Neither cache is trusted alone:

- An API key may have been revoked a moment ago. So the statement of a scan or of a verification checks the key again,
  and an answer that no such statement has confirmed reads the key first (`require_confirmed`). A revocation is
  therefore in force with the very next request, on every process.
- The rate of a key may have been changed. It is compared once a minute, when the key's last use is stored, and before
  a call is refused for its rate.
- A token that no cached public key has signed makes us read the keys again. A signing key that was retired meanwhile is
  found by the statement that uses the token.
"""

import asyncio
from collections.abc import AsyncGenerator, Callable, Container, Iterable, Sequence
from contextlib import asynccontextmanager, suppress
from datetime import datetime
from typing import Final, TypeVar
from uuid import UUID

import asyncpg

from gatepass.base.batcher import Batcher, map_in_pieces
from gatepass.base.bounded_cache import BoundedCache
from gatepass.base.database import Database
from gatepass.base.errors import NotNow
from gatepass.base.tracing.batcher import batcher
from gatepass.base.tracing.tracer import Tracer
from gatepass.domain import cards, keys
from gatepass.domain.cards import Certificate, InvalidToken, PhoneCode, PublicKey, Token, phone_code
from gatepass.domain.keys import Address, Caller, KeyRow

# About 20 MB. A key that is dropped costs one query when it is used again.
MOST_API_KEYS: Final = 50_000
# Less than 10 MB, and a fifth of a second when a process starts.
MOST_READ_AHEAD: Final = 10_000
MOST_ORGANIZATIONS: Final = 10_000
# About 20 MB. A certificate that is dropped costs one verification when its phone is scanned again.
MOST_CERTIFICATES: Final = 20_000
# Look-ups that wait for the one in flight. Past it the database is too slow, and a longer queue would only hide that.
MOST_WAITING: Final = 2_000
BATCH: Final = 128

Read = TypeVar("Read")


class ApiKeyCache:
    def __init__(
        self, db: Database, cells: Container[str], most: int = MOST_API_KEYS, tracer: Tracer | None = None
    ) -> None:
        self._db = db
        self._cells = cells
        self._callers: BoundedCache[bytes, Caller] = BoundedCache(most)
        # Nobody has shown these yet: the database has no key, so its cell is unknown.
        self._ahead: dict[bytes, Caller] = {}
        self._rows: Batcher[str, KeyRow | None] = batcher(
            self._find, "find_api_keys", tracer, batch=BATCH, waiting=MOST_WAITING, hurried=True
        )

    @asynccontextmanager
    async def reading_ahead(self) -> AsyncGenerator[None]:
        """Beside the block, read the keys that were used last. Any other is read when it is shown."""
        reading = asyncio.create_task(self.read_ahead())
        try:
            yield
        finally:
            reading.cancel()
            await asyncio.wait([reading])

    async def read_ahead(self) -> None:
        """A process may start before its database does, or before that is migrated: then nothing is read."""
        rows: Sequence[KeyRow] = ()
        with suppress(NotNow, asyncpg.PostgresError):
            async with self._db.autocommit() as tx:
                rows = await keys.latest_used(tx, MOST_READ_AHEAD)
        callers = await map_in_pieces(KeyRow.caller, rows)
        self._ahead = {row.hash: caller for row, caller in zip(rows, callers, strict=True)}

    def cached(self, authorization: str | None, address: Address | None) -> Caller | None:
        """The key's caller, if the key was loaded before."""
        digest = _digest(authorization)
        caller = self._callers.get(digest)
        if caller is None and digest in self._ahead:
            keys.bearer_key(authorization, self._cells)
            caller = self._callers[digest] = self._ahead.pop(digest)
        if caller is not None:
            keys.require_address(caller, address)
        return caller

    async def load(self, authorization: str | None, address: Address | None, at: datetime) -> Caller:
        """The key's caller as the database has it now. Calls that come together ask one question.

        A database that is away says nothing about a key: only an answer makes us forget one.
        """
        digest, row = _digest(authorization), await self._rows(keys.bearer_key(authorization, self._cells))
        self._callers.pop(digest, None)
        self._ahead.pop(digest, None)
        caller = keys.admit(row, address, at=at)
        self._callers[digest] = caller
        return caller

    def forget(self, key_id: UUID) -> None:
        """Read this key again when it is used next: the operator has changed its rate."""
        for digest in [digest for digest, caller in self._callers.items() if caller.key_id == key_id]:
            del self._callers[digest]

    async def _find(self, asked: Sequence[str]) -> Sequence[KeyRow | None]:
        async with self._db.autocommit() as tx:
            return await keys.find_all(tx, asked)


class PublicKeyCache:
    def __init__(self, db: Database) -> None:
        self._db = db
        self._keys: BoundedCache[UUID, list[PublicKey]] = BoundedCache(MOST_ORGANIZATIONS)
        self._certificates: BoundedCache[tuple[UUID, str], Certificate] = BoundedCache(MOST_CERTIFICATES)

    async def read_token(self, organization_id: UUID, text: str) -> Token | PhoneCode:
        """The token or phone's code, if the organization signed it; otherwise InvalidToken."""
        if phone_code.is_phone_code(text):
            return await self._read_phone_code(organization_id, text)
        return await self._read(organization_id, text, cards.read_token)

    async def _read_phone_code(self, organization_id: UUID, text: str) -> PhoneCode:
        """A phone shows one certificate for days, so that a second scan of it verifies the phone's signature alone.

        A certificate that ends is found by its date, or by the statement that compares its phone and signing key.
        """
        certificate = phone_code.certificate_of(text)
        known = self._certificates.get((organization_id, certificate))
        if known is None:
            known = await self._read(organization_id, certificate, phone_code.read_certificate)
            self._certificates[organization_id, certificate] = known
        return phone_code.read_code(text, known)

    async def _read(self, organization_id: UUID, text: str, read: Callable[[str, Iterable[PublicKey]], Read]) -> Read:
        known = self._keys.get(organization_id)
        if known:
            try:
                return read(text, known)
            except InvalidToken:
                pass
        return read(text, await self._load(organization_id))

    async def _load(self, organization_id: UUID) -> list[PublicKey]:
        async with self._db.autocommit() as tx:
            found = await cards.verifying_keys(tx, organization_id)
        self._keys[organization_id] = found
        return found


def _digest(authorization: str | None) -> bytes:
    """The digest under which the database has the key of this header."""
    return keys.digest(keys.shown_key(authorization))
