"""Reading card tokens with the public keys of their organization, remembered.

A token that no remembered key signed makes us ask for the keys again. A key that was retired meanwhile is
found by the statement that uses the token.
"""

from collections import OrderedDict
from typing import Final
from uuid import UUID

from gatepass.base.database import Database
from gatepass.domain import cards
from gatepass.domain.cards import InvalidToken, PublicKey, Token

MOST: Final = 10_000


class Signatures:
    def __init__(self, db: Database) -> None:
        self._db = db
        self._keys: OrderedDict[UUID, list[PublicKey]] = OrderedDict()

    async def read(self, organization_id: UUID, text: str) -> Token:
        """The token, if the organization signed it; otherwise InvalidToken."""
        known = self._keys.get(organization_id)
        if known:
            try:
                return cards.read_token(text, known)
            except InvalidToken:
                pass
        return cards.read_token(text, await self._ask(organization_id))

    async def _ask(self, organization_id: UUID) -> list[PublicKey]:
        async with self._db.reading() as tx:
            found = await cards.verifying_keys(tx, organization_id)
        self._keys[organization_id] = found
        if len(self._keys) > MOST:
            self._keys.popitem(last=False)
        return found
