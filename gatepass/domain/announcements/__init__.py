"""Announcements: everybody with a ticket of a changed or cancelled event is told by mail, because somebody chose so.

Nothing tells people by itself: a typing error must not reach twenty thousand of them. A change by the API tells nobody;
the platform that made it knows its own customers. A worker writes the letters in batches, each in one transaction with
the place that it has reached, so that a killed worker leaves nobody out and writes to nobody twice.
"""

from gatepass.domain.announcements.announcement import (
    Announcement,
    AnnouncementState,
    AnnouncementUnderWay,
    NothingToAnnounce,
    TooManyAnnouncements,
    begin,
    count_readers,
    kind_for,
    recent,
    stop,
)
from gatepass.domain.announcements.writing import write_some

__all__ = [
    "Announcement",
    "AnnouncementState",
    "AnnouncementUnderWay",
    "NothingToAnnounce",
    "TooManyAnnouncements",
    "begin",
    "count_readers",
    "kind_for",
    "recent",
    "stop",
    "write_some",
]
