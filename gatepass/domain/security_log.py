"""Security events: who signed in, what was refused, what was exported.

Each is an entry in the audit log of every organization that it concerns, and one line in the log of the process, which
a SIEM reads. An event without a person is a line alone. Lines never hold a secret, or a text that a stranger typed.
"""

import logging
from collections.abc import Iterable
from datetime import datetime
from enum import StrEnum
from typing import Final
from uuid import UUID

from gatepass.base.client_ip import Address, network_of
from gatepass.base.database import Tx
from gatepass.base.event_limit import EventLimit
from gatepass.base.log import logger
from gatepass.domain import audit_log

PERSON: Final = "person"
# The actor of an event before anybody has signed in.
NOBODY: Final = "somebody not signed in"

log = logger("security")


class Action(StrEnum):
    """What happens to a person's access. A change of credentials has the name that its verb gives it."""

    SIGNED_IN = "signed_in"
    SIGN_IN_FAILED = "sign_in_failed"
    SIGNED_OUT = "signed_out"
    CONFIRMED = "confirmed"
    CONFIRMATION_FAILED = "confirmation_failed"
    ACCESS_REFUSED = "access_refused"
    # Lines alone.
    SESSION_REQUIRED = "session_required"
    PAGE_NOT_FOUND = "page_not_found"
    API_KEY_REFUSED = "api_key_refused"
    API_SCOPE_REFUSED = "api_scope_refused"
    API_RATE_LIMITED = "api_rate_limited"
    PAIRING_REFUSED = "pairing_refused"


class Means(StrEnum):
    """How somebody proved who they are."""

    PASSKEY = "passkey"
    PASSWORD = "password"  # noqa: S105  the name of a means
    PASSWORD_AND_CODE = "password and code"  # noqa: S105
    RECOVERY_CODE = "password and recovery code"
    LINK = "link"
    MAILED_LINK = "mailed link"

    @property
    def is_strong(self) -> bool:
        """Whether a second factor was shown. A passkey is two at once: the device, and what unlocks it."""
        return self not in (Means.PASSWORD, Means.LINK, Means.MAILED_LINK)


WARNINGS: Final = frozenset(
    {
        Action.SIGN_IN_FAILED,
        Action.CONFIRMATION_FAILED,
        Action.ACCESS_REFUSED,
        Action.API_KEY_REFUSED,
        Action.API_SCOPE_REFUSED,
        Action.API_RATE_LIMITED,
        Action.PAIRING_REFUSED,
        "passkey_suspect",
        "device_journal_refused",
        "pairing_code_contested",
    }
)
# Lines a minute for one name, address and place, and for the whole process: a flood must not fill a disk.
LINES: Final = EventLimit(of_one=5, most=1_000)


async def record(
    tx: Tx,
    organization_ids: Iterable[UUID],
    subject: str,
    subject_id: UUID,
    action: str,
    *,
    by: str,
    at: datetime,
    was: str | None = None,
    becomes: str | None = None,
    reason: str | None = None,
    **fields: str | int | None,
) -> None:
    """Write an event: an entry for each organization now, and the line after the commit. `fields` are the line's."""
    ids = list(organization_ids)
    for organization_id in ids:
        await audit_log.record(
            tx, organization_id, subject, subject_id, action, by=by, at=at, was=was, becomes=becomes, reason=reason
        )
    told: dict[str, object] = {
        "organization_ids": [str(id) for id in ids],
        "actor": by,
        "subject": subject,
        "subject_id": str(subject_id),
        "reason": reason,
    }
    name = action if subject == PERSON else f"{subject}_{action}"
    tx.after_commit(lambda: _write(name, {**told, **fields, "address": _text(tx.address)}))


def line(action: Action, *, address: Address | None, **fields: str | None) -> None:
    """Write an event of nobody that we know: a line alone, and a bounded number of them."""
    if LINES.allows(
        action, address and network_of(address), fields.get("reason"), fields.get("route"), fields.get("key_id")
    ):
        _write(action, {**fields, "address": _text(address), "suppressed": LINES.take_suppressed(action)})


def _write(name: str, fields: dict[str, object]) -> None:
    level = logging.WARNING if name in WARNINGS else logging.INFO
    log.log(level, str(name), **{field: value for field, value in fields.items() if value is not None})


def _text(address: Address | None) -> str | None:
    return None if address is None else str(address)
