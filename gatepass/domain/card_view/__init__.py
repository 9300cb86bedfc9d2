"""What the page of a card shows, and whether it has changed."""

from gatepass.domain.card_view.versions import CardRef, read_versions
from gatepass.domain.card_view.view import (
    CardCode,
    CardView,
    EventState,
    Look,
    ShownEvent,
    ShownStatus,
    read_view,
)

__all__ = [
    "CardCode",
    "CardRef",
    "CardView",
    "EventState",
    "Look",
    "ShownEvent",
    "ShownStatus",
    "read_versions",
    "read_view",
]
