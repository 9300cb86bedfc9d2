"""Paging: `limit`, opaque cursors, and the Link to the next page."""

from base64 import urlsafe_b64decode
from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from typing import Any, Final, TypeVar
from urllib.parse import urlencode
from uuid import UUID

from gatepass_sdk._base64url import encoded
from gatepass_sdk.testing._body_reader import read_uuid
from gatepass_sdk.testing._http import Refused, Reply, Request, invalid
from gatepass_sdk.testing._state import Position

T = TypeVar("T")

MOST: Final = 100
EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)
MICROSECOND: Final = timedelta(microseconds=1)


def page_size(request: Request) -> int:
    text = request.query.get("limit")
    if text is None:
        return MOST
    if not (text.isascii() and text.isdigit() and len(text) <= 3 and 1 <= int(text) <= MOST):
        raise invalid("limit is a whole number from 1 to 100.", "limit")
    return int(text)


def page_start(request: Request, name: str = "cursor") -> Position | None:
    text = request.query.get(name)
    if text is None:
        return None
    micros, id = read_cursor(text, name)
    try:
        return EPOCH + timedelta(microseconds=micros), id
    except OverflowError:
        raise _bad_cursor(name) from None


def page_of(
    request: Request,
    items: Sequence[T],
    position: Callable[[T], Position],
    shown: Callable[[T], Mapping[str, Any]],
    size_and_start: tuple[int, Position | None],
    *,
    newest_first: bool = False,
    filters: Mapping[str, str | None] | None = None,
) -> Reply:
    """The requested page of these items."""
    limit, start = size_and_start
    found = sorted(items, key=position, reverse=newest_first)
    if start is not None:
        found = [item for item in found if (position(item) < start if newest_first else position(item) > start)]
    page, more = found[:limit], len(found) > limit
    cursor, headers = None, dict[str, str]()
    if more:
        at, id = position(page[-1])
        cursor = cursor_of((at - EPOCH) // MICROSECOND, id)
        query = {name: value for name, value in (filters or {}).items() if value is not None}
        headers["link"] = f'<{request.url}?{urlencode({**query, "limit": limit, "cursor": cursor})}>; rel="next"'
    data = [shown(item) for item in page]
    return Reply(200, {"data": data, "has_more": more, "next_cursor": cursor}, headers)


def read_cursor(text: str, param: str) -> tuple[int, UUID]:
    """The number and the id in a cursor. Anything that `cursor_of` did not write is refused."""
    try:
        number, id = urlsafe_b64decode(text.encode("ascii") + b"==").decode("ascii").split(".")
        found = read_uuid(id)
        if found is None or not (number.isdigit() and len(number) <= 18) or cursor_of(int(number), found) != text:
            raise ValueError
    except ValueError:
        raise _bad_cursor(param) from None
    return int(number), found


def cursor_of(number: int, id: UUID) -> str:
    return encoded(f"{number}.{id}".encode())


def _bad_cursor(param: str) -> Refused:
    return invalid(f"{param} is not one that this list gave out.", param)
