"""The address of an account: proven by a mailed link, or changed for another one that is.

A link proves that its bearer reads the letters of an address. It does not prove who made the account: somebody else
may have, and kept a way in. So an account that nobody has proven gets there as it joins an organization: with a new
passkey or password, and with nothing from before. A proven one only changes its address.
"""

from datetime import datetime
from typing import Final
from uuid import UUID

from gatepass.base.database import Tx
from gatepass.base.errors import Refusal
from gatepass.domain.staff import account
from gatepass.domain.staff.invitations import ResetNeeded
from gatepass.domain.staff.mail import links
from gatepass.domain.staff.mail.letters import StaffLetters
from gatepass.domain.staff.membership import note_everywhere
from gatepass.domain.staff.person import (
    EmailTaken,
    Person,
    folded,
    is_proven,
    lock_address,
    lock_person,
    mark_proven,
)


class ProofNotFound(Refusal):
    """This link was used already, is too old, or is for somebody else."""

    code = "proof_not_found"


async def prove(tx: Tx, letters: StaffLetters, person: Person, token: str, *, at: datetime) -> str:
    """Use the link: the account has its address from now on. ResetNeeded if nobody has proven the account."""
    await lock_person(tx, person.id)
    if not await is_proven(tx, person.id):
        raise ResetNeeded
    email = await _used(tx, person.id, token, at)
    await _change(tx, letters, person, email, at)
    return email


async def prove_anew(tx: Tx, letters: StaffLetters, person: Person, token: str, *, at: datetime) -> str:
    """Use the link for an account that nobody has proven. All that it signed in with is removed; add a new one next."""
    await lock_person(tx, person.id)
    email = await _used(tx, person.id, token, at)
    await account.reset(tx, person.id, by=f"person {person.id}", at=at)
    await _change(tx, letters, person, email, at)
    await mark_proven(tx, person.id, at=at)
    await note_everywhere(tx, person.id, "address_proven", by=f"person {person.id}", at=at, becomes=email)
    return email


async def _used(tx: Tx, person_id: UUID, token: str, at: datetime) -> str:
    email = await links.use_proof(tx, token, person_id, at=at)
    if email is None:
        raise ProofNotFound
    return email


async def _change(tx: Tx, letters: StaffLetters, person: Person, email: str, at: datetime) -> None:
    """Whoever has the address without proof loses it. One that is proven is another account's, and stays there."""
    if folded(email) == folded(person.email):
        return
    await lock_address(tx, email)
    await account.free_address(tx, email, at=at, proven=True)
    if not await tx.run(CHANGE, person.id, email):
        raise EmailTaken
    by = f"person {person.id}"
    await note_everywhere(tx, person.id, "address_changed", by=by, at=at, was=person.email, becomes=email)
    await letters.tell_of_change(tx, person.id, person.name, was=person.email, becomes=email, at=at)


CHANGE: Final = """
    UPDATE person
       SET email = $2
     WHERE id = $1
       AND removed_at IS NULL
       AND NOT EXISTS (SELECT FROM person other WHERE lower(other.email COLLATE "C") = lower($2 COLLATE "C"))
"""
