"""The key ring: whom a key belongs to, remembered, so that a scan needs one round trip and not two.

A remembered key may have been revoked a moment ago. So the statement of a scan or of a verification looks
at the key again, and an answer that no such statement has confirmed asks the database first (`require_confirmed`).
Revoking therefore works with the very next request, on every process.
"""

import hashlib
from collections import OrderedDict
from datetime import datetime
from typing import Final

from gatepass.base.database import Database
from gatepass.domain import keys
from gatepass.domain.keys import Address, Caller

# Some 20 MB. The one asked about longest ago is forgotten, which costs it one query.
MOST: Final = 50_000


class KeyRing:
    def __init__(self, db: Database, most: int = MOST) -> None:
        self._db = db
        self._most = most
        self._callers: OrderedDict[bytes, Caller] = OrderedDict()

    def remembered(self, authorization: str | None, address: Address | None) -> Caller | None:
        """The caller, if we have met this key before."""
        caller = self._callers.get(_name(authorization))
        if caller is not None:
            keys.require_address(caller, address)
        return caller

    async def ask(self, authorization: str | None, address: Address | None, at: datetime) -> Caller:
        """The caller as the database knows it now."""
        name = _name(authorization)
        self._callers.pop(name, None)
        key = keys.shown_key(authorization)
        async with self._db.reading() as tx:
            caller = await keys.authenticate(tx, key, address, at=at)
        self._callers[name] = caller
        if len(self._callers) > self._most:
            self._callers.popitem(last=False)
        return caller


def _name(authorization: str | None) -> bytes:
    return hashlib.sha256((authorization or "").encode("latin-1", "replace")).digest()
