"""The application of a server process: the API, the studio, card pages, the scanner, or all of them on one port.

Every process of the API serves the scanner too: it is a few files, needs no database, and calls the API alone.
"""

from contextlib import AsyncExitStack
from enum import StrEnum
from typing import Final

from starlette.types import Message, Receive, Scope, Send

from gatepass.base.settings import Settings
from gatepass.server.connections import Connections

CARD_PAGES: Final = "/c/"
SCANNER: Final = "/gate"
# What only the studio or the card pages answer.
OTHER_PATHS: Final = ("/studio", "/covers/", CARD_PAGES)
# What the scanner answers, besides its page. Pairing, /gate/pair/…, is the API's.
SCANNER_PATHS: Final = (f"{SCANNER}/static/", f"{SCANNER}/sw.js", f"{SCANNER}/app.webmanifest")


class Interface(StrEnum):
    API = "api"
    STUDIO = "studio"
    CARD_PAGE = "card-page"
    GATE = "gate"


class CombinedApp:
    """One ASGI application. `stop` ends its streams."""

    def __init__(self, settings: Settings, only: Interface | None) -> None:
        self._api = self._studio = self._card_page = self._gate = None
        # Only what is served is imported: each takes a part of a second, and memory while the process lives.
        if only in (None, Interface.API):
            from gatepass.api.app import create_app as create_api  # noqa: PLC0415

            self._api = create_api(settings)
        if only in (None, Interface.STUDIO):
            from gatepass.studio.app import create_app as create_studio  # noqa: PLC0415

            self._studio = create_studio(settings)
        if only in (None, Interface.CARD_PAGE):
            from gatepass.card_page.app import create_app as create_card_page  # noqa: PLC0415

            self._card_page = create_card_page(settings)
        if only in (None, Interface.API, Interface.GATE):
            from gatepass.gate.app import create_app as create_gate  # noqa: PLC0415

            self._gate = create_gate(settings)
        self._only = None if only in (None, Interface.API) else self._studio or self._card_page or self._gate
        # The interfaces with streams, which end when the process stops.
        self._others = [
            *([self._studio.studio] if self._studio is not None else []),
            *([self._card_page.pages] if self._card_page is not None else []),
        ]
        self.connections = Connections.of(settings)
        if self._api is not None:
            registry = self._api.state.metrics.registry
            for other in self._others:
                registry.register(other.metrics)
            self.connections.refused = self._api.malformed.note
        elif self._others:
            (alone,) = self._others
            registry = alone.metrics.registry
            registry.register(alone.readiness)
        else:
            assert self._gate is not None  # noqa: S101  nothing else is left
            registry = self._gate.state.registry
            registry.register(self._gate.state.readiness)
        registry.register(self.connections)
        self.registry = registry

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if self._only is not None:
            await self._only(scope, receive, send)
            return
        assert self._api is not None and self._gate is not None  # noqa: S101, PT018  either all, or the API and the scanner
        if scope["type"] == "lifespan":
            await self._live(scope, receive, send)
        elif is_scanner(scope["path"]):
            await self._gate(scope, receive, send)
        elif self._studio is None or self._card_page is None or not scope["path"].startswith(OTHER_PATHS):
            await self._api(scope, receive, send)
        elif scope["path"].startswith(CARD_PAGES):
            await self._card_page(scope, receive, send)
        else:
            await self._studio(scope, receive, send)

    def stop(self) -> None:
        if self._api is not None:
            self._api.state.manifests.stop()
        for other in self._others:
            other.stop()

    async def _live(self, scope: Scope, receive: Receive, send: Send) -> None:
        """The life of the API, within that of the others. The server ends its loop when it hears that all is closed."""
        assert self._api is not None  # noqa: S101  this is the life of all of them
        closed: list[Message] = []

        async def send_on(message: Message) -> None:
            if message["type"] == "lifespan.shutdown.complete":
                closed.append(message)
            else:
                await send(message)

        async with AsyncExitStack() as lives:
            for other in self._others:
                await lives.enter_async_context(other.opened())
            await self._api(scope, receive, send_on)
        for message in closed:
            await send(message)


def is_scanner(path: str) -> bool:
    return path == SCANNER or path.startswith(SCANNER_PATHS)
