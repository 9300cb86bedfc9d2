"""Keys: who may call, and for what."""

from gatepass.domain.keys.authentication import Address, DeadKey, authenticate, require_address, shown_key
from gatepass.domain.keys.issuing import IssuedKey, KeyNotFound, issue, mark_used, rename, revoke
from gatepass.domain.keys.key import (
    RATES,
    Caller,
    InsufficientScope,
    InvalidKey,
    Mode,
    Scope,
    is_well_formed,
    make_key,
    mode_of,
)
from gatepass.domain.keys.listing import Key, KeyName, KeyStatus, Shown, find_key, keys_of, names_of
from gatepass.domain.keys.opening import OPENS, PRESETS, PURPOSES, Opened, Preset, opened_by
from gatepass.domain.keys.rolling import DURATIONS, Overlap, roll

__all__ = [
    "DURATIONS",
    "OPENS",
    "PRESETS",
    "PURPOSES",
    "RATES",
    "Address",
    "Caller",
    "DeadKey",
    "InsufficientScope",
    "InvalidKey",
    "IssuedKey",
    "Key",
    "KeyName",
    "KeyNotFound",
    "KeyStatus",
    "Mode",
    "Opened",
    "Overlap",
    "Preset",
    "Scope",
    "Shown",
    "authenticate",
    "find_key",
    "is_well_formed",
    "issue",
    "keys_of",
    "make_key",
    "mark_used",
    "mode_of",
    "names_of",
    "opened_by",
    "rename",
    "require_address",
    "revoke",
    "roll",
    "shown_key",
]
