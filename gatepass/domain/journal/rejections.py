"""Entries that are not believed are seen: counted on the device, in the audit log and in the log for a SIEM.

A wrong signature is a thief with an API key, or a device that lost its own. Who tries it all day must not fill the
audit log: it gets one entry a minute for each device, and the count on the device has them all.
"""

from collections import Counter
from collections.abc import Iterable
from datetime import datetime, timedelta
from typing import Final

from gatepass.base.database import Tx
from gatepass.domain import security_log
from gatepass.domain.journal.uploader import Uploader

APART: Final = timedelta(minutes=1)


async def note(tx: Tx, uploader: Uploader, codes: Iterable[str], *, at: datetime) -> None:
    """Count these refused entries of the device's journal."""
    counted = Counter(codes)
    if not counted:
        return
    is_due = await tx.value(COUNT, uploader.organization_id, uploader.device_id, counted.total(), at, at - APART)
    if is_due:
        reason = ", ".join(f"{code}: {count}" for code, count in sorted(counted.items()))
        await security_log.record(
            tx, [uploader.organization_id], "device", uploader.device_id, "journal_refused",
            by=f"key {uploader.key_id}", at=at, reason=reason,
        )  # fmt: skip


COUNT: Final = """
    UPDATE device d
       SET refused_entries = d.refused_entries + $3,
           refused_at = CASE WHEN d.refused_at > $5 THEN d.refused_at ELSE $4 END
     WHERE d.organization_id = $1
       AND d.id = $2
    RETURNING d.refused_at = $4
"""
