"""Schemas that all endpoints share: `{data: …}`, times, pages and their cursors."""

from base64 import urlsafe_b64decode, urlsafe_b64encode
from datetime import datetime
from typing import Annotated, Final, Generic, Self, TypeVar
from urllib.parse import urlencode
from uuid import UUID

from fastapi import Query, Response
from pydantic import BaseModel, ConfigDict, Field, PlainSerializer, PrivateAttr, WithJsonSchema

from gatepass.base.clock import rfc3339
from gatepass.base.errors import InvalidRequest
from gatepass.base.paging import Place, cursor_text, read_cursor_text

T = TypeVar("T")

MOST: Final = 100

Moment = Annotated[
    datetime,
    PlainSerializer(rfc3339, return_type=str),
    WithJsonSchema({"type": "string", "format": "date-time"}, mode="serialization"),
]


class Wire(BaseModel):
    model_config = ConfigDict(frozen=True)


class Versioned(Wire):
    """An object whose ETag is a digest of all that is known of it, beside what is shown."""

    _version: str = PrivateAttr()

    @property
    def version(self) -> str:
        return self._version

    def of_version(self, version: str) -> Self:
        self._version = version
        return self


class Data(Wire, Generic[T]):
    data: T


class Page(Wire, Generic[T]):
    data: list[T] = Field(max_length=MOST)
    has_more: bool = Field(description="Whether there is another page.")
    next_cursor: str | None = Field(description="Pass it as `cursor` to get the next page; null on the last one.")


PageLimit = Annotated[str | None, Query(description="How many items, 1 to 100.")]
PageCursor = Annotated[str | None, Query(description="Where the page begins: `next_cursor` of the page before.")]


async def page_size(limit: PageLimit = None) -> int:
    return read_limit(limit)


async def page_start(cursor: PageCursor = None) -> Place | None:
    return read_place(cursor)


def read_limit(text: str | None) -> int:
    if text is None:
        return MOST
    if not (text.isascii() and text.isdigit() and len(text) <= 3 and 1 <= int(text) <= MOST):
        raise InvalidRequest("limit is a whole number from 1 to 100.", param="limit")
    return int(text)


def read_place(cursor: str | None) -> Place | None:
    if cursor is None:
        return None
    try:
        return Place.of(*read_cursor(cursor, "cursor"))
    except OverflowError:
        raise _not_ours("cursor") from None


def read_cursor(text: str, param: str) -> tuple[int, UUID]:
    """The number and the id in a cursor. Only a cursor that `packed` wrote is accepted."""
    try:
        found = read_cursor_text(urlsafe_b64decode(text.encode("ascii") + b"==").decode("ascii"), digits=18)
    except ValueError:
        raise _not_ours(param) from None
    if found is None or packed(*found) != text:
        raise _not_ours(param)
    return found


def packed(number: int, id: UUID) -> str:
    return urlsafe_b64encode(cursor_text(number, id).encode()).rstrip(b"=").decode()


def _not_ours(param: str) -> InvalidRequest:
    return InvalidRequest(f"{param} is not one that this list gave out.", param=param)


def written_cursor(place: Place) -> str:
    return packed(place.micros, place.id)


def next_page(response: Response, url: str, limit: int, place: Place | None, **filters: str | None) -> str | None:
    """The cursor of the page that begins after `place`, also set as the Link header; None on the last page."""
    headers, cursor = link_to_next(url, limit, place, **filters)
    response.headers.update(headers)
    return cursor


def link_to_next(url: str, limit: int, place: Place | None, **filters: str | None) -> tuple[dict[str, str], str | None]:
    """The Link header and the cursor of the page that begins after `place`; none on the last page."""
    if place is None:
        return {}, None
    cursor = written_cursor(place)
    query = {name: value for name, value in filters.items() if value is not None}
    return {"Link": f'<{url}?{urlencode({**query, "limit": limit, "cursor": cursor})}>; rel="next"'}, cursor
