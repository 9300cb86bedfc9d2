"""An API key: its format and its scopes.

`svc_live_` or `svc_test_`, the cell's letter, 30 random base62 characters, and their CRC-32 in 6 characters:
a mistyped key is refused without a query, and a secret scanner makes no mistake.
"""

import hashlib
import re
import secrets
from dataclasses import dataclass
from enum import StrEnum
from ipaddress import IPv4Network, IPv6Network
from typing import Final
from uuid import UUID
from zlib import crc32

from gatepass.base.errors import Refusal
from gatepass.base.wire_constants import LIVE_KEY_PREFIX, SANDBOX_KEY_PREFIX
from gatepass.domain import twin

ALPHABET: Final = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
RANDOM_CHARACTERS: Final = 30
CHECK_CHARACTERS: Final = 6
PATTERN: Final = re.compile(
    f"(?:{LIVE_KEY_PREFIX}|{SANDBOX_KEY_PREFIX})[a-z][0-9A-Za-z]{{{RANDOM_CHARACTERS + CHECK_CHARACTERS}}}"
)


class Mode(StrEnum):
    LIVE = "live"
    SANDBOX = "sandbox"


class Scope(StrEnum):
    EVENTS_READ = "events:read"
    EVENTS_WRITE = "events:write"
    CARDS_VERIFY = "cards:verify"
    CARDS_READ = "cards:read"
    CARDS_WRITE = "cards:write"
    TICKETS_ACTIVATE = "tickets:activate"
    TICKETS_READ = "tickets:read"
    TICKETS_WRITE = "tickets:write"
    WEBHOOKS_READ = "webhooks:read"
    ADMIN = "admin"


# Calls per second and burst, unless the operator grants a key its own.
RATES: Final[dict[Mode, tuple[int, int]]] = {Mode.LIVE: (100, 200), Mode.SANDBOX: (25, 50)}


class InvalidKey(Refusal):
    """The API key is missing, invalid or revoked."""

    code = "invalid_key"

    def __init__(self, reason: str = "unknown", sentence: str | None = None) -> None:
        """The reason is for our log: the caller learns nothing about keys that exist."""
        super().__init__(sentence)
        self.reason = reason


class WrongCell(InvalidKey):
    """This API key belongs to another cell."""

    code = "wrong_cell"

    def __init__(self, cell: str = "b") -> None:
        super().__init__("cell", f"This API key belongs to cell {cell}, and the call has reached another cell.")


class InsufficientScope(Refusal):
    """This API key lacks the scope that the call needs."""

    code = "insufficient_scope"


@dataclass(frozen=True, slots=True)
class DeviceAssignment:
    """The device that a key belongs to, and the only event and gate that it works for."""

    device_id: UUID
    event_id: UUID
    gate: str


@dataclass(frozen=True, slots=True)
class Caller:
    """An authenticated API key. `organization_id` has the key, the webhook endpoints and the request log.

    `device` is None for a key that people made.
    """

    organization_id: UUID
    key_id: UUID
    mode: Mode
    scopes: frozenset[str]
    rate_per_second: int | None = None
    burst: int | None = None
    allowed_networks: tuple[IPv4Network | IPv6Network, ...] = ()
    device: DeviceAssignment | None = None

    @property
    def tenant_id(self) -> UUID:
        """Whose events, cards, tickets and scans this key works on: a sandbox key on those of the twin."""
        return self.organization_id if self.mode is Mode.LIVE else twin.twin_id(self.organization_id)

    def require(self, scope: Scope) -> None:
        """Refuse unless the key has the scope; `admin` implies every other."""
        if scope not in self.scopes and Scope.ADMIN not in self.scopes:
            raise InsufficientScope(f"This API key lacks the scope {scope}.")


def make_key(mode: Mode, cell: str) -> str:
    prefix = LIVE_KEY_PREFIX if mode is Mode.LIVE else SANDBOX_KEY_PREFIX
    stem = prefix + cell + "".join(secrets.choice(ALPHABET) for _ in range(RANDOM_CHARACTERS))
    return stem + _check(stem)


def is_well_formed(text: str) -> bool:
    """Whether this can be a key: its shape and its checksum, without a query."""
    return PATTERN.fullmatch(text) is not None and _check(text[:-CHECK_CHARACTERS]) == text[-CHECK_CHARACTERS:]


def mode_of(key: str) -> Mode:
    return Mode.LIVE if key.startswith(LIVE_KEY_PREFIX) else Mode.SANDBOX


def cell_of(key: str) -> str:
    """The letter of the cell that made this well-formed key. Both prefixes are of one length."""
    return key[len(LIVE_KEY_PREFIX)]


def digest(key: str) -> bytes:
    """The hash that is stored instead of the key. 179 random bits need no slow hash."""
    return hashlib.sha256(key.encode()).digest()


def _check(stem: str) -> str:
    number, characters = crc32(stem.encode()), ""
    for _ in range(CHECK_CHARACTERS):
        number, rest = divmod(number, len(ALPHABET))
        characters = ALPHABET[rest] + characters
    return characters
