"""Lists that are longer than a page."""

from collections.abc import AsyncIterator, Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Generic, TypeVar

from gatepass_sdk._call import Answer, Call
from gatepass_sdk._decode import Unreadable

if TYPE_CHECKING:
    from gatepass_sdk._async.exchange import AsyncExchange

T = TypeVar("T")


@dataclass(frozen=True)
class AsyncPage(Generic[T]):
    """`next_cursor` continues where this page ends."""

    data: tuple[T, ...]
    has_more: bool
    next_cursor: str | None


class AsyncPages(Generic[T]):
    """Iterate over it for every item of every page. A page is fetched when it is needed."""

    def __init__(
        self,
        exchange: "AsyncExchange",
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

    async def __aiter__(self) -> AsyncIterator[T]:
        async for page in self.pages():
            for item in page.data:
                yield item

    async def pages(self) -> AsyncIterator[AsyncPage[T]]:
        """Page by page, for programs that store `next_cursor`."""
        query = self._query
        while True:
            page = await self._exchange.ask(Call("GET", self._path, self._page, query=query))
            yield page
            if not page.has_more or page.next_cursor is None:
                return
            query = {**query, self._cursor_name: page.next_cursor}

    async def first(self) -> AsyncPage[T]:
        """The first page alone."""
        return await self._exchange.ask(Call("GET", self._path, self._page, query=self._query))

    def _page(self, answer: Answer) -> AsyncPage[T]:
        body: dict[str, Any] = answer.value
        items, cursor = body.get("data"), body.get("next_cursor")
        if not isinstance(items, list) or not isinstance(cursor, str | None):
            raise Unreadable("a page was expected")
        return AsyncPage(tuple(self._read(item) for item in items), body.get("has_more") is True, cursor)
