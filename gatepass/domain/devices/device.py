"""A device: a phone or a reader at a gate, with a key of its own for the API and another for its journal."""

from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import Final
from uuid import UUID

from gatepass.base.errors import InvalidRequest, Refusal
from gatepass.base.text import is_line
from gatepass.domain.cards.phone_code import is_public_key
from gatepass.domain.keys import DeviceAssignment, Mode

# The subject of audit entries.
SUBJECT: Final = "device"
NAME_LENGTH: Final = 100
GATE_LENGTH: Final = 64
APP_LENGTH: Final = 100


class DeviceStatus(StrEnum):
    PAIRED = "paired"
    # It only uploads what its journal still holds.
    RETIRED = "retired"
    # Lost or stolen: it is refused everywhere.
    REVOKED = "revoked"


class DeviceNotFound(Refusal):
    """There is no such device."""

    code = "device_not_found"


@dataclass(frozen=True, slots=True)
class Device:
    """`event_id` and `gate` are those of its last assignment. `organization_id` is the owner, in both modes."""

    organization_id: UUID
    id: UUID
    mode: Mode
    name: str
    public_key: bytes
    status: DeviceStatus
    event_id: UUID
    gate: str
    paired_at: datetime
    paired_by: str
    ended_at: datetime | None
    ended_by: str | None
    last_seen_at: datetime | None
    queued: int | None
    clock_offset_ms: int | None
    app: str | None

    @property
    def assignment(self) -> DeviceAssignment:
        return DeviceAssignment(self.id, self.event_id, self.gate)


def require_public_key(raw: bytes) -> None:
    """A key of small order, or one that is not on the curve, would make every signature of the journal worthless."""
    if not is_public_key(raw):
        raise InvalidRequest("public_key is not an Ed25519 public key.", param="public_key")


def required_name(text: str) -> str:
    return _line(text, "name", NAME_LENGTH)


def required_gate(text: str) -> str:
    return _line(text, "gate", GATE_LENGTH)


def required_app(text: str) -> str:
    return _line(text, "app", APP_LENGTH)


def _line(text: str, param: str, most: int) -> str:
    """One line of text that a screen can show: a name must not forge a second line or hide in another direction."""
    text = text.strip()
    if len(text) > most or not is_line(text):
        raise InvalidRequest(f"{param} has 1 to {most} printable characters.", param=param)
    return text
