# Generated from _async/pages.py by `make sdk-sync`. Change that file.
"""Lists that are longer than a page."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Generic, TypeVar

from gatepass_sdk._call import Answer, Call
from gatepass_sdk._decode import Unreadable

if TYPE_CHECKING:
    from gatepass_sdk._sync.exchange import Exchange

T = TypeVar("T")


@dataclass(frozen=True)
class Page(Generic[T]):
    """`next_cursor` continues where this page ends."""

    data: tuple[T, ...]
    has_more: bool
    next_cursor: str | None


class Pages(Generic[T]):
    """Iterate over it for every item of every page. A page is fetched when it is needed."""

    def __init__(
        self,
        exchange: "Exchange",
        path: str,
        read: Callable[[object], T],
        query: Mapping[str, str | int | None],
        *,
        cursor_name: str = "cursor",
    ) -> None:
        self._exchange = exchange
        self._path = path
        self._read = read
        self._query = {name: str(value) for name, value in query.items() if value is not None}
        self._cursor_name = cursor_name

    def __iter__(self) -> Iterator[T]:
        for page in self.pages():
            for item in page.data:
                yield item

    def pages(self) -> Iterator[Page[T]]:
        """Page by page, for programs that store `next_cursor`."""
        query = self._query
        while True:
            page = self._exchange.ask(Call("GET", self._path, self._page, query=query))
            yield page
            if not page.has_more or page.next_cursor is None:
                return
            query = {**query, self._cursor_name: page.next_cursor}

    def first(self) -> Page[T]:
        """The first page alone."""
        return self._exchange.ask(Call("GET", self._path, self._page, query=self._query))

    def _page(self, answer: Answer) -> Page[T]:
        body: dict[str, Any] = answer.value
        items, cursor = body.get("data"), body.get("next_cursor")
        if not isinstance(items, list) or not isinstance(cursor, str | None):
            raise Unreadable("a page was expected")
        return Page(tuple(self._read(item) for item in items), body.get("has_more") is True, cursor)
