"""Notices: a person is told of new credentials, and of a sign-in from a browser or a network that is new for them.

Those of `BY_MAIL` go to a proven address too: a worker writes the letters (`domain/notice_letters`).
"""

from dataclasses import dataclass
from datetime import datetime, timedelta
from ipaddress import ip_network
from typing import Final
from uuid import UUID

from gatepass.base.client_ip import Address
from gatepass.base.database import Tx
from gatepass.base.ids import new_id
from gatepass.domain.staff.browser_name import browser_name

SIGNED_IN_ELSEWHERE: Final = "signed_in_elsewhere"
# The security events that a person is told of. Other names of `note_everywhere` are for the organization alone.
SENTENCES: Final = {
    SIGNED_IN_ELSEWHERE: "Somebody signed in from a browser or a network that is new for you",
    "sign_in_link_made": "The operator made a link that signs you in",
    "account_reset": "Everything that you signed in with was removed",
    "password_set": "Your password was set",
    "passkey_added": "A passkey was added",
    "passkey_removed": "A passkey was removed",
    "passkey_suspect": "A passkey was refused, because there may be a copy of it",
    "one_time_codes_on": "One-time codes were turned on",
    "one_time_codes_off": "One-time codes were turned off",
    "recovery_codes_made": "New recovery codes were made",
    "recovery_code_used": "A recovery code was used",
    "address_changed": "Your e-mail address was changed",
    "address_lost": "Somebody else has proven that your e-mail address is theirs, so your account has lost it",
}
BY_MAIL: Final = frozenset(
    {"password_set", "passkey_added", "one_time_codes_on", "one_time_codes_off", "recovery_codes_made"}
)
MOST: Final = 100
KEPT: Final = timedelta(days=180)
BATCH: Final = 1_000
# Sessions that are looked at to know where somebody usually is.
MOST_SESSIONS: Final = 200


@dataclass(frozen=True, slots=True)
class Notice:
    id: UUID
    at: datetime
    kind: str
    detail: str | None
    address: Address | None
    seen_at: datetime | None

    @property
    def sentence(self) -> str:
        return SENTENCES.get(self.kind, self.kind.replace("_", " "))


@dataclass(frozen=True, slots=True)
class _KnownPlace:
    browser: str | None
    address: Address | None


async def tell(tx: Tx, person_id: UUID, kind: str, *, at: datetime, detail: str | None = None) -> None:
    """Tell a person of this. Who has never signed in yet is not told of their sign-up."""
    by_mail = kind in BY_MAIL
    if await tx.run(TELL, person_id, new_id(), at, kind, detail and detail[:300], tx.address, by_mail):
        await tx.run(DROP_OLDEST, person_id, MOST)


async def tell_if_elsewhere(tx: Tx, person_id: UUID, agent: str, *, at: datetime) -> None:
    """Before a session is opened: tell the person, unless both the browser and the network are known."""
    known = await tx.all(_KnownPlace, KNOWN_PLACES, person_id, MOST_SESSIONS)
    browsers = {browser_name(one.browser) for one in known}
    networks = {_network(one.address) for one in known if one.address is not None}
    here = _network(tx.address) if tx.address else None
    if browser_name(agent) not in browsers or (here is not None and here not in networks):
        await tell(tx, person_id, SIGNED_IN_ELSEWHERE, at=at, detail=browser_name(agent))


async def notices_of(tx: Tx, person_id: UUID) -> list[Notice]:
    """The newest first."""
    return await tx.all(Notice, OF_PERSON, person_id, MOST)


async def mark_seen(tx: Tx, person_id: UUID, *, at: datetime) -> None:
    await tx.run(MARK_SEEN, person_id, at)


async def delete_some_old(tx: Tx, *, at: datetime) -> int:
    return await tx.run(DELETE_OLD, at - KEPT, BATCH)


def _network(address: Address) -> str:
    """A provider gives a household other addresses of the same network from time to time."""
    mapped = address.ipv4_mapped if address.version == 6 else None
    plain = mapped or address
    return str(ip_network((plain, 24 if plain.version == 4 else 48), strict=False))


TELL: Final = """
    INSERT INTO notice (person_id, id, at, kind, detail, address, letter_due)
    SELECT $1, $2, $3, $4, $5, $6, $7
     WHERE EXISTS (SELECT FROM studio_session WHERE person_id = $1)
"""

DROP_OLDEST: Final = """
    DELETE FROM notice
     WHERE person_id = $1
       AND id IN (SELECT id FROM notice WHERE person_id = $1 ORDER BY at DESC, id DESC OFFSET $2)
"""

KNOWN_PLACES: Final = """
    SELECT browser, address
      FROM studio_session
     WHERE person_id = $1
     ORDER BY began_at DESC
     LIMIT $2
"""

OF_PERSON: Final = """
    SELECT id, at, kind, detail, address, seen_at
      FROM notice
     WHERE person_id = $1
     ORDER BY at DESC, id DESC
     LIMIT $2
"""

MARK_SEEN: Final = """
    UPDATE notice
       SET seen_at = $2
     WHERE person_id = $1
       AND seen_at IS NULL
"""

DELETE_OLD: Final = """
    DELETE FROM notice n
     USING (SELECT person_id, id FROM notice WHERE at < $1 LIMIT $2) old
     WHERE n.person_id = old.person_id
       AND n.id = old.id
"""
