"""The door: how an event is entered, counted exactly while it happens, at no cost to the gates."""

from gatepass.domain.door.alarms import Alarm, AlarmKind, SilentScanner, alarms, silent_scanners
from gatepass.domain.door.coming import Category, Fresh, fresh, hold_still
from gatepass.domain.door.counting import Count, count
from gatepass.domain.door.horizon import Horizon
from gatepass.domain.door.latest import RecentScan, masked, recent
from gatepass.domain.door.tally import Minute, Scanner, Tally

__all__ = [
    "Alarm",
    "AlarmKind",
    "Category",
    "Count",
    "Fresh",
    "Horizon",
    "Minute",
    "RecentScan",
    "Scanner",
    "SilentScanner",
    "Tally",
    "alarms",
    "count",
    "fresh",
    "hold_still",
    "masked",
    "recent",
    "silent_scanners",
]
