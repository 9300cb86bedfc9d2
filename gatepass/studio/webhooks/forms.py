"""What the pages on webhooks share: ids in forms, links, and times that people type."""

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
    """For a link; what is not given is left out."""
    given = {name: str(value) for name, value in values.items() if value}
    return f"?{urlencode(given)}" if given else ""


def time_in(text: str) -> datetime | None:
    """A time as a browser's field writes it, in UTC."""
    if len(text) > LONGEST_TIME:
        return None
    try:
        return datetime.fromisoformat(text).replace(tzinfo=UTC)
    except ValueError:
        return None


def time_text(at: datetime) -> str:
    """As a browser's field wants it."""
    return at.astimezone(UTC).strftime("%Y-%m-%dT%H:%M")
