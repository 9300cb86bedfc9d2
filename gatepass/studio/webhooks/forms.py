"""Shared by the pages on webhooks: ids in forms, query strings, and times in fields."""

from datetime import UTC, datetime
from typing import Final
from urllib.parse import urlencode
from uuid import UUID

from gatepass.base.ids import strict_uuid
from gatepass.domain.webhooks import WebhookNotFound

LONGEST_TIME: Final = 32


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


def time_in(text: str) -> datetime | None:
    """The UTC time in a browser's field; None if it is not one."""
    if len(text) > LONGEST_TIME:
        return None
    try:
        return datetime.fromisoformat(text).replace(tzinfo=UTC)
    except ValueError:
        return None


def time_text(at: datetime) -> str:
    """The value for a browser's field."""
    return at.astimezone(UTC).strftime("%Y-%m-%dT%H:%M")
