"""Cover pictures that were uploaded. They are public: whoever knows an address sees its picture."""

from dataclasses import dataclass
from datetime import datetime
from typing import Final
from uuid import UUID

from gatepass.base.database import Tx
from gatepass.base.ids import new_id
from gatepass.domain.events.picture import Kind, look_at

PATH: Final = "/covers/"


@dataclass(frozen=True, slots=True)
class Cover:
    kind: Kind
    content: bytes


async def keep(tx: Tx, organization_id: UUID, content: bytes, *, by: str, at: datetime) -> str:
    """Keep a picture; the path that an event names it by. `edit` puts it on an event, and forgets the one before."""
    picture, cover_id = look_at(content), new_id()
    size = (picture.width, picture.height)
    await tx.run(KEEP, organization_id, cover_id, picture.kind, *size, content, at, by)
    return f"{PATH}{cover_id}.{picture.kind}"


async def find_cover(tx: Tx, cover_id: UUID, kind: Kind) -> Cover | None:
    """For anybody. A picture has one address: its id with another ending is not found."""
    return await tx.one(Cover, FIND, cover_id, kind)


async def forget_unused(tx: Tx, organization_id: UUID, cover_url: str | None) -> None:
    """Delete a picture that no event shows any more."""
    if cover_url is not None and cover_url.startswith(PATH):
        id = UUID(cover_url.removeprefix(PATH).partition(".")[0])
        await tx.run(FORGET_UNUSED, organization_id, id, cover_url)


KEEP: Final = """
    INSERT INTO event_cover (organization_id, id, kind, width, height, content, created_at, created_by)
    VALUES ($1, $2, $3, $4, $5, $6, $7, $8)
"""

FIND: Final = """
    -- every organization: whoever looks at a picture does not say whose it is
    SELECT kind, content
      FROM event_cover
     WHERE id = $1
       AND kind = $2
"""

FORGET_UNUSED: Final = """
    DELETE FROM event_cover
     WHERE organization_id = $1
       AND id = $2
       AND NOT EXISTS (SELECT FROM event e
                        WHERE e.organization_id = $1
                          AND e.cover_url = $3
                          AND e.cover_url LIKE '/covers/%')
"""
