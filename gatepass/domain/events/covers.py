"""Uploaded cover pictures. They are public: everybody who knows the address of a picture can read it."""

from dataclasses import dataclass
from datetime import datetime
from typing import Final
from uuid import UUID

from gatepass.base.database import Tx
from gatepass.base.ids import new_id
from gatepass.domain.events.details import COVERS
from gatepass.domain.events.image_format import ImageFormat, read_image


@dataclass(frozen=True, slots=True)
class Cover:
    kind: ImageFormat
    content: bytes


async def store_cover(tx: Tx, organization_id: UUID, content: bytes, *, by: str, at: datetime) -> str:
    """Store a picture; its path. `edit` sets the path as an event's cover and deletes the previous picture."""
    image, cover_id = read_image(content), new_id()
    size = (image.width, image.height)
    await tx.run(STORE, organization_id, cover_id, image.kind, *size, content, at, by)
    return f"{COVERS}{cover_id}.{image.kind}"


async def find_cover(tx: Tx, cover_id: UUID, kind: ImageFormat) -> Cover | None:
    """Public. A picture has one address: its id with another extension is not found."""
    return await tx.one(Cover, FIND, cover_id, kind)


async def delete_unused(tx: Tx, organization_id: UUID, cover_url: str | None) -> None:
    """Delete a picture that is no longer the cover of an event."""
    if cover_url is not None and cover_url.startswith(COVERS):
        id = UUID(cover_url.removeprefix(COVERS).partition(".")[0])
        await tx.run(DELETE_UNUSED, organization_id, id, cover_url)


STORE: Final = """
    INSERT INTO event_cover (organization_id, id, kind, width, height, content, created_at, created_by)
    VALUES ($1, $2, $3, $4, $5, $6, $7, $8)
"""

FIND: Final = """
    -- every organization: a picture is public, and its address does not name one
    SELECT kind, content
      FROM event_cover
     WHERE id = $1
       AND kind = $2
"""

DELETE_UNUSED: Final = """
    DELETE FROM event_cover
     WHERE organization_id = $1
       AND id = $2
       AND NOT EXISTS (SELECT FROM event e
                        WHERE e.organization_id = $1
                          AND e.cover_url = $3
                          AND e.cover_url LIKE '/covers/%')
"""
