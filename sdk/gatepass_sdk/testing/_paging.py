"""Lists, page by page: `limit`, cursors that only their list understands, and the Link to the next page."""

from base64 import urlsafe_b64decode
from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from typing import Any, Final, TypeVar
from urllib.parse import urlencode
from uuid import UUID

from gatepass_sdk._base64url import encoded
from gatepass_sdk.testing._asked import Asked, Refused, Reply, invalid
from gatepass_sdk.testing._bodies import read_uuid

T = TypeVar("T")
Place = tuple[datetime, UUID]

MOST: Final = 100
EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)


def page_size(asked: Asked) -> int:
    text = asked.query.get("limit")
    if text is None:
        return MOST
    if not (text.isascii() and text.isdigit() and len(text) <= 3 and 1 <= int(text) <= MOST):
        raise invalid("limit is a whole number from 1 to 100.", "limit")
    return int(text)


def page_start(asked: Asked) -> Place | None:
    text = asked.query.get("cursor")
    if text is None:
        return None
    micros, id = read_cursor(text, "cursor")
    try:
        return EPOCH + timedelta(microseconds=micros), id
    except OverflowError:
        raise _not_ours("cursor") from None


def page_of(
    asked: Asked,
    items: Sequence[T],
    place: Callable[[T], Place],
    shown: Callable[[T], Mapping[str, Any]],
    size_and_start: tuple[int, Place | None],
    *,
    newest_first: bool = False,
    filters: Mapping[str, str | None] | None = None,
) -> Reply:
    """The page that was asked for, of these items."""
    limit, start = size_and_start
    found = sorted(items, key=place, reverse=newest_first)
    if start is not None:
        found = [item for item in found if (place(item) < start if newest_first else place(item) > start)]
    page, more = found[:limit], len(found) > limit
    cursor, headers = None, dict[str, str]()
    if more:
        at, id = place(page[-1])
        cursor = packed((at - EPOCH) // timedelta(microseconds=1), id)
        query = {name: value for name, value in (filters or {}).items() if value is not None}
        headers["link"] = f'<{asked.url}?{urlencode({**query, "limit": limit, "cursor": cursor})}>; rel="next"'
    data = [shown(item) for item in page]
    return Reply(200, {"data": data, "has_more": more, "next_cursor": cursor}, headers)


def read_cursor(text: str, param: str) -> tuple[int, UUID]:
    """The number and the id in a cursor. Only what `packed` wrote is taken."""
    try:
        number, id = urlsafe_b64decode(text.encode("ascii") + b"==").decode("ascii").split(".")
        found = read_uuid(id)
        if found is None or not (number.isdigit() and len(number) <= 18) or packed(int(number), found) != text:
            raise ValueError
    except ValueError:
        raise _not_ours(param) from None
    return int(number), found


def packed(number: int, id: UUID) -> str:
    return encoded(f"{number}.{id}".encode())


def _not_ours(param: str) -> Refused:
    return invalid(f"{param} is not one that this list gave out.", param)
