"""Live: the entries of an event, counted exactly while it runs, at no cost to the gates."""

from gatepass.domain.live.alarms import Alarm, AlarmKind, SilentScanner, alarms, silent_scanners
from gatepass.domain.live.deltas import Deltas, LiveCategory, read_deltas, repeatable_read
from gatepass.domain.live.full_count import FullCount, count
from gatepass.domain.live.lookback import Lookback
from gatepass.domain.live.recent_scans import RecentScan, recent
from gatepass.domain.live.totals import Minute, Scanner, Totals

__all__ = [
    "Alarm",
    "AlarmKind",
    "Deltas",
    "FullCount",
    "LiveCategory",
    "Lookback",
    "Minute",
    "RecentScan",
    "Scanner",
    "SilentScanner",
    "Totals",
    "alarms",
    "count",
    "read_deltas",
    "recent",
    "repeatable_read",
    "silent_scanners",
]
