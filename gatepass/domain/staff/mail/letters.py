"""The letters that staff get because somebody asked for them: invitations, links that sign in, proofs of an address.

They are written in the transaction that makes the link. Without a mail server there are none, and links are handed
over instead (decision 12).
"""

import re
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final
from uuid import UUID

from gatepass.base.database import Tx
from gatepass.domain.mail import LetterKind, Mailer, is_sendable
from gatepass.domain.staff.mail import links
from gatepass.domain.staff.person import Person, find_person
from gatepass.domain.staff.role import Role

# An account that nobody has proven is reminded this often, when its person signs in.
REMIND_EVERY: Final = timedelta(days=30)
LONGEST_NAME: Final = 60
# What a mail program would make a link of. Names are chosen by people that the reader may not know.
LIKE_A_LINK: Final = re.compile(r"://|\w\.\w|@")


@dataclass(frozen=True, slots=True)
class Invited:
    """Who is invited, by whom and to what, as the letter says it."""

    organization_id: UUID
    organization_name: str
    inviter: str
    email: str
    role: Role
    expires_at: datetime


class StaffLetters:
    """Made once from the settings. `origin` is where the studio is, and `cell` the letter of its links."""

    def __init__(self, mailer: Mailer, origin: str, cell: str) -> None:
        self.enabled = mailer.enabled
        self._mailer = mailer
        self._origin = origin
        self._cell = cell

    async def invite(self, tx: Tx, invited: Invited, token: str, *, at: datetime) -> None:
        """Send the link of an invitation to its address, and to nobody else."""
        values = {
            "organization": plain_name(invited.organization_name, "an organization"),
            "inviter": plain_name(invited.inviter, "Somebody"),
            "role": invited.role.spoken,
            "link": f"{self._origin}/studio/welcome/{token}",
            "ends": _day(invited.expires_at),
        }
        await self._mailer.write(
            tx, LetterKind.INVITATION, to=invited.email, organization_id=invited.organization_id, values=values, at=at
        )

    async def send_sign_in_link(self, tx: Tx, email: str, *, at: datetime) -> None:
        """Send a link to the account of this address. If there is none, a link is made all the same, for nobody."""
        person = await find_person(tx, email)
        if person is not None and (person.disabled_at is not None or not is_sendable(person.email)):
            person = None
        token = await links.make_sign_in(tx, person.id if person else None, cell=self._cell, at=at)
        if person is not None:
            link = f"{self._origin}/studio/link/{token}"
            await self._write(tx, LetterKind.SIGN_IN_LINK, person.id, person.email, at, name=person.name, link=link)

    async def send_proof(self, tx: Tx, person_id: UUID, name: str, email: str, *, at: datetime) -> None:
        """Send a link that proves this address, which may be a new one of the person."""
        token = await links.make_proof(tx, person_id, email, cell=self._cell, at=at)
        link = f"{self._origin}/studio/address/{token}"
        values = {"name": name, "email": email, "link": link, "ends": _day(at + links.PROOF_FOR)}
        await self._write(tx, LetterKind.ADDRESS_PROOF, person_id, email, at, **values)

    async def send_proof_if_due(self, tx: Tx, person_id: UUID, *, at: datetime) -> None:
        """At a sign-in: an account that nobody has proven gets a letter, at most every 30 days."""
        if not self.enabled:
            return
        person = await tx.one(Person, TAKE_REMINDER, person_id, at, at - REMIND_EVERY)
        if person is not None and is_sendable(person.email):
            await self.send_proof(tx, person.id, person.name, person.email, at=at)

    async def tell_of_change(self, tx: Tx, person_id: UUID, name: str, *, was: str, becomes: str, at: datetime) -> None:
        """Tell the address that a person had until now. Whoever reads it may be the one who knows of no change."""
        if is_sendable(was):
            await self._write(
                tx, LetterKind.ADDRESS_CHANGED, person_id, was, at, name=name, was=was, becomes=hidden(becomes)
            )

    async def _write(self, tx: Tx, kind: LetterKind, person_id: UUID, to: str, at: datetime, **values: str) -> None:
        values["name"] = plain_name(values["name"], "colleague")
        await self._mailer.write(tx, kind, to=to, organization_id=None, person_id=person_id, values=values, at=at)


def plain_name(name: str, otherwise: str) -> str:
    """The name, short, if no mail program makes a link of it: else a letter of ours could carry somebody's bait."""
    return otherwise if LIKE_A_LINK.search(name) else name[:LONGEST_NAME]


def hidden(email: str) -> str:
    """Enough of an address for its owner to know it again: `a…@example.org`."""
    local_part, _, domain = email.rpartition("@")
    return f"{local_part[:1]}…@{domain}"


def _day(moment: datetime) -> str:
    return f"{moment:%d %B %Y, %H:%M} UTC"


TAKE_REMINDER: Final = """
    UPDATE person
       SET proof_mailed_at = $2
     WHERE id = $1
       AND proven_at IS NULL
       AND removed_at IS NULL
       AND email NOT LIKE '%.invalid'
       AND (proof_mailed_at IS NULL OR proof_mailed_at < $3)
    RETURNING id, email, name, disabled_at
"""
