"""Keys: who may call, and for what."""

from gatepass.domain.keys.authentication import Address, DeadKey, authenticate, require_address, shown_key
from gatepass.domain.keys.issuing import IssuedKey, KeyNotFound, issue, mark_used, revoke
from gatepass.domain.keys.key import (
    Caller,
    InsufficientScope,
    InvalidKey,
    Mode,
    Scope,
    is_well_formed,
    make_key,
    mode_of,
)

__all__ = [
    "Address",
    "Caller",
    "DeadKey",
    "InsufficientScope",
    "InvalidKey",
    "IssuedKey",
    "KeyNotFound",
    "Mode",
    "Scope",
    "authenticate",
    "is_well_formed",
    "issue",
    "make_key",
    "mark_used",
    "mode_of",
    "require_address",
    "revoke",
    "shown_key",
]
