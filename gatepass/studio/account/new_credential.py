"""A first or new credential: a password that was hashed, or the answer of a passkey."""

from dataclasses import dataclass, field
from datetime import datetime
from uuid import UUID

from gatepass.base.database import Tx
from gatepass.domain.security_log import Means
from gatepass.domain.staff import passkey, password
from gatepass.domain.staff.passkey import PasskeyNotKept
from gatepass.domain.staff.webauthn import RelyingParty


@dataclass(frozen=True, slots=True)
class NewCredential:
    """`hash` is that of a password; without one, `answer` is that of a passkey."""

    hash: str | None = field(default=None, repr=False)
    answer: str = field(default="", repr=False)

    @property
    def means(self) -> Means:
        return Means.PASSKEY if self.hash is None else Means.PASSWORD

    async def add(self, tx: Tx, party: RelyingParty, person_id: UUID, *, at: datetime) -> None:
        if self.hash is not None:
            await password.keep(tx, person_id, self.hash, at=at)
        elif not await passkey.add(tx, party, person_id, self.answer, "First passkey", by=f"person {person_id}", at=at):
            raise PasskeyNotKept
