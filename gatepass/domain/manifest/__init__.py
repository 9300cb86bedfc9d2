"""The manifest of an event: what a device needs to admit without a network, and what has changed since."""

from gatepass.domain.manifest.changed_cards import read_changes
from gatepass.domain.manifest.content import Content, read_situation
from gatepass.domain.manifest.cursor import Cursor, Server
from gatepass.domain.manifest.listeners import open_keys
from gatepass.domain.manifest.manifest import (
    ForeignServerError,
    Manifest,
    NotPreparedError,
    advance,
    prepare,
    read,
    require_current,
)
from gatepass.domain.manifest.records import ChangedCard, CollisionError, Records
from gatepass.domain.manifest.salt import draw_again

__all__ = [
    "ChangedCard",
    "CollisionError",
    "Content",
    "Cursor",
    "ForeignServerError",
    "Manifest",
    "NotPreparedError",
    "Records",
    "Server",
    "advance",
    "draw_again",
    "open_keys",
    "prepare",
    "read",
    "read_changes",
    "read_situation",
    "require_current",
]
