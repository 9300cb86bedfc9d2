"""The fields of every message."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from gatepass_sdk._decode import Model


@dataclass(frozen=True, kw_only=True)
class Message(Model):
    """The fields of every message."""

    id: str
    type: str
    organization_id: str
    created_at: datetime


@dataclass(frozen=True, kw_only=True)
class OtherEvent(Message):
    """Any other type, with its data unread."""

    data: Mapping[str, Any]
