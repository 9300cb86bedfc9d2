"""Shared by the pages on webhooks: ids in forms, query strings, times in fields, and when a page polls again."""

from datetime import UTC, datetime
from typing import Final
from urllib.parse import urlencode
from uuid import UUID
from zoneinfo import ZoneInfo

from gatepass.base.ids import strict_uuid
from gatepass.domain.webhooks import WebhookNotFound

LONGEST_TIME: Final = 32
# Limits, in seconds, of the time after which a page with a pending delivery polls again.
SOONEST: Final = 2
LATEST: Final = 3600


def id_in(text: str) -> UUID:
    """The id of an endpoint in a form."""
    found = strict_uuid(text)
    if found is None:
        raise WebhookNotFound
    return found


def query(**values: object) -> str:
    """A query string, without empty values."""
    given = {name: str(value) for name, value in values.items() if value}
    return f"?{urlencode(given)}" if given else ""


def time_in(text: str, zone: str) -> datetime | None:
    """The time in a browser's field, which is in this zone; None if it is not one."""
    if len(text) > LONGEST_TIME:
        return None
    try:
        return datetime.fromisoformat(text).replace(tzinfo=ZoneInfo(zone)).astimezone(UTC)
    except (ValueError, OverflowError):
        return None


def time_text(at: datetime, zone: str) -> str:
    """The value for a browser's field."""
    return at.astimezone(ZoneInfo(zone)).strftime("%Y-%m-%dT%H:%M")


def again_in(next_at: datetime | None, at: datetime) -> int:
    """Seconds until the page polls again: just after the next attempt is due."""
    left = 0.0 if next_at is None else (next_at - at).total_seconds()
    return int(min(max(left + 1, SOONEST), LATEST))
