"""The file of an export: sealed until somebody downloads it, and opened part by part."""

import re
from datetime import datetime
from typing import Final
from uuid import UUID

from gatepass.base.database import Tx
from gatepass.base.encryption import Vault
from gatepass.base.errors import NotAllowedFromHere
from gatepass.domain import security_log
from gatepass.domain.card_exports.job import CardExport, ExportKind, ExportNotFound, ExportState
from gatepass.domain.card_exports.listing import find

NOT_IN_A_FILE_NAME: Final = re.compile(r"[^A-Za-z0-9._-]+")


async def begin_download(
    tx: Tx, organization_id: UUID, export_id: UUID, *, by: str, at: datetime, told: UUID
) -> CardExport:
    """Before the first byte: the audit log of `told` has it even if the download breaks off."""
    job = await find(tx, organization_id, export_id)
    if job.state is not ExportState.READY or job.expires_at is None or job.expires_at <= at:
        raise NotAllowedFromHere("This file is not there: it is not ready, or it was deleted.")
    await tx.run(COUNT_DOWNLOAD, organization_id, export_id)
    await security_log.record(
        tx,
        [told],
        "card_export",
        export_id,
        "downloaded",
        by=by,
        at=at,
        becomes=f"{job.kind.upper()} of {job.done} cards",
    )
    return job


async def read_part(tx: Tx, organization_id: UUID, export_id: UUID, place: int, vault: Vault) -> bytes:
    """One part, opened. A file that was deleted meanwhile has none."""
    found = await tx.rows(READ, organization_id, export_id, place)
    if not found:
        raise ExportNotFound
    return vault.open(found[0]["sealed_content"], sealed_context(organization_id, found[0]["id"]))


async def delete_parts(tx: Tx, organization_id: UUID, export_id: UUID) -> None:
    await tx.run(DELETE, organization_id, export_id)


def name_of(kind: ExportKind, event_title: str) -> str:
    """The name of the file, in plain letters."""
    plain = NOT_IN_A_FILE_NAME.sub("-", f"cards-{event_title}").strip("-")[:80]
    return f"{plain or 'cards'}.{kind}"


def sealed_context(organization_id: UUID, part_id: UUID) -> str:
    """The associated data of a sealed part, so that it opens in its own row alone."""
    return f"card_export_part {organization_id} {part_id}"


COUNT_DOWNLOAD: Final = """
    UPDATE card_export
       SET downloads = downloads + 1
     WHERE organization_id = $1
       AND id = $2
"""

READ: Final = """
    SELECT id, sealed_content
      FROM card_export_part
     WHERE organization_id = $1
       AND export_id = $2
       AND place = $3
"""

DELETE: Final = """
    DELETE FROM card_export_part
     WHERE organization_id = $1
       AND export_id = $2
"""
