"""What an organizer chooses of the card page: the holder's name or none, a logo, a colour, one line of text.

Passes for Apple Wallet have the colour too. A sandbox card looks as the organization's own.
"""

import re
from dataclasses import dataclass
from datetime import datetime
from typing import Final
from uuid import UUID

from gatepass.base.database import Tx
from gatepass.base.errors import InvalidRequest
from gatepass.base.ids import new_id
from gatepass.base.text import is_line
from gatepass.domain import audit_log, twin
from gatepass.domain.card_look.colour import TEAL, ink_on
from gatepass.domain.events.image_format import Bounds, ImageFormat, read_image

SUBJECT: Final = "organization"
COLOUR: Final = re.compile(r"#[0-9a-f]{6}", re.ASCII)
LONGEST_LINE: Final = 140
# Every phone that opens a card loads it, often at a crowded gate.
LOGO: Final = Bounds("logo", 256 * 1024, 40)


@dataclass(frozen=True, slots=True)
class CardLook:
    shows_name: bool = False
    colour: str = TEAL
    line: str | None = None
    logo_id: UUID | None = None
    logo_kind: ImageFormat | None = None

    @property
    def ink(self) -> str:
        return ink_on(self.colour)


@dataclass(frozen=True, slots=True)
class Logo:
    kind: ImageFormat
    content: bytes


async def find(tx: Tx, organization_id: UUID) -> CardLook:
    """What the organization of a card has chosen, or the look that every page has before."""
    return await tx.one(CardLook, FIND, twin.owner_of(organization_id)) or CardLook()


async def find_logo(tx: Tx, organization_id: UUID, logo_id: UUID) -> Logo | None:
    return await tx.one(Logo, FIND_LOGO, twin.owner_of(organization_id), logo_id)


async def change(
    tx: Tx, organization_id: UUID, *, shows_name: bool, colour: str, line: str | None, by: str, at: datetime
) -> bool:
    """Choose all but the logo; whether anything changed."""
    line = (line or "").strip() or None
    if COLOUR.fullmatch(colour.lower()) is None:
        raise InvalidRequest("A colour is # and six digits from 0 to f.", param="colour")
    if line is not None and (len(line) > LONGEST_LINE or not is_line(line)):
        raise InvalidRequest(f"This is one line of at most {LONGEST_LINE} characters.", param="line")
    was = await _locked(tx, organization_id, at)
    if (was.shows_name, was.colour, was.line) == (shows_name, colour.lower(), line):
        return False
    await tx.run(CHANGE, organization_id, shows_name, colour.lower(), line, at)
    becomes = await find(tx, organization_id)
    await audit_log.record(
        tx, organization_id, SUBJECT, organization_id, "card page changed", by=by, at=at,
        was=_told(was), becomes=_told(becomes),
    )  # fmt: skip
    return True


async def set_logo(tx: Tx, organization_id: UUID, content: bytes | None, *, by: str, at: datetime) -> None:
    """Another logo, or none."""
    kind = read_image(content, LOGO).kind if content is not None else None
    was = await _locked(tx, organization_id, at)
    if content is None and was.logo_id is None:
        return
    await tx.run(SET_LOGO, organization_id, new_id() if content is not None else None, kind, content, at)
    await audit_log.record(
        tx, organization_id, SUBJECT, organization_id, "card logo changed", by=by, at=at,
        was=was.logo_kind, becomes=kind,
    )  # fmt: skip


async def _locked(tx: Tx, organization_id: UUID, at: datetime) -> CardLook:
    """The look as it is. Others who change it wait until this transaction ends."""
    unchosen = CardLook()
    await tx.run(BEGIN, organization_id, unchosen.shows_name, unchosen.colour, at)
    return await find(tx, organization_id)


def _told(look: CardLook) -> str:
    return f"{look.colour}, {'with' if look.shows_name else 'without'} names, {look.line or 'no line'}"


FIND: Final = """
    SELECT shows_name, colour, line, logo_id, logo_kind
      FROM card_look
     WHERE organization_id = $1
"""

FIND_LOGO: Final = """
    SELECT logo_kind AS kind, logo AS content
      FROM card_look
     WHERE organization_id = $1
       AND logo_id = $2
"""

# An update of a row that is there locks it, and changes nothing.
BEGIN: Final = """
    INSERT INTO card_look (organization_id, shows_name, colour, changed_at)
    VALUES ($1, $2, $3, $4)
    ON CONFLICT (organization_id) DO UPDATE SET organization_id = excluded.organization_id
"""

CHANGE: Final = """
    UPDATE card_look
       SET shows_name = $2, colour = $3, line = $4, changed_at = $5
     WHERE organization_id = $1
"""

SET_LOGO: Final = """
    UPDATE card_look
       SET logo_id = $2, logo_kind = $3, logo = $4, changed_at = $5
     WHERE organization_id = $1
"""
