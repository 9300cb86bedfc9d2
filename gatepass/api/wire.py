"""What all endpoints share: `{data: …}`, times, pages, and strings that PostgreSQL can keep."""

from base64 import urlsafe_b64decode, urlsafe_b64encode
from datetime import UTC, datetime
from typing import Annotated, Final, Generic, TypeVar
from urllib.parse import urlencode

from fastapi import Query
from pydantic import BaseModel, ConfigDict, Field, PlainSerializer, WithJsonSchema

from gatepass.base.clock import rfc3339
from gatepass.base.ids import strict_uuid
from gatepass.base.refusals import InvalidRequest
from gatepass.domain.events import Place

T = TypeVar("T")

MOST: Final = 100

Moment = Annotated[
    datetime,
    PlainSerializer(rfc3339, return_type=str),
    WithJsonSchema({"type": "string", "format": "date-time"}, mode="serialization"),
]


class Wire(BaseModel):
    model_config = ConfigDict(frozen=True)


class Data(Wire, Generic[T]):
    data: T


class Page(Wire, Generic[T]):
    data: list[T] = Field(max_length=MOST)
    has_more: bool = Field(description="Whether there is another page.")
    next_cursor: str | None = Field(description="Pass it as `cursor` to get the next page; null on the last one.")


async def page_size(
    limit: Annotated[str | None, Query(description="How many items, 1 to 100.")] = None,
) -> int:
    if limit is None:
        return MOST
    if not (limit.isascii() and limit.isdigit() and len(limit) <= 3 and 1 <= int(limit) <= MOST):
        raise InvalidRequest("limit is a whole number from 1 to 100.", param="limit")
    return int(limit)


async def page_start(
    cursor: Annotated[str | None, Query(description="Where the page begins: `next_cursor` of the page before.")] = None,
) -> Place | None:
    if cursor is None:
        return None
    try:
        micros, id = urlsafe_b64decode(cursor.encode("ascii") + b"==").decode("ascii").split(".")
        event_id = strict_uuid(id)
        if event_id is None or written_cursor(place := Place(_from_micros(micros), event_id)) != cursor:
            raise ValueError
    except (ValueError, OverflowError):
        raise InvalidRequest("cursor is not one that this list gave out.", param="cursor") from None
    return place


def written_cursor(place: Place) -> str:
    micros = int((place.starts_at - EPOCH).total_seconds()) * 1_000_000 + place.starts_at.microsecond
    return urlsafe_b64encode(f"{micros}.{place.id}".encode()).rstrip(b"=").decode()


def next_link(url: str, limit: int, cursor: str) -> str:
    return f'<{url}?{urlencode({"limit": limit, "cursor": cursor})}>; rel="next"'


EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)


def _from_micros(text: str) -> datetime:
    if not (text.isascii() and text.isdigit() and len(text) <= 18):
        raise ValueError
    return datetime.fromtimestamp(int(text) // 1_000_000, UTC).replace(microsecond=int(text) % 1_000_000)


def is_storable(text: str) -> bool:
    """NUL and lone surrogates pass every parser and fail inside PostgreSQL."""
    return "\x00" not in text and not any("\ud800" <= character <= "\udfff" for character in text)
