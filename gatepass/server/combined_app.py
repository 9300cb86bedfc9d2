"""The application of a server process: the API, the studio, card pages, or all of them on one port."""

from contextlib import AsyncExitStack
from enum import StrEnum
from typing import Final

from starlette.types import Message, Receive, Scope, Send

from gatepass.base.settings import Settings
from gatepass.server.connections import Connections

CARD_PAGES: Final = "/c/"
# What the API does not answer if there is another interface in its process.
OTHER_PATHS: Final = ("/studio", "/covers/", CARD_PAGES)


class Interface(StrEnum):
    API = "api"
    STUDIO = "studio"
    CARD_PAGE = "card-page"


class CombinedApp:
    """One ASGI application. `stop` ends its streams."""

    def __init__(self, settings: Settings, only: Interface | None) -> None:
        # FastAPI takes more than a second to import; `gatepass --help` should not wait for it.
        from gatepass.api.app import create_app as create_api  # noqa: PLC0415
        from gatepass.card_page.app import create_app as create_card_page  # noqa: PLC0415
        from gatepass.studio.app import create_app as create_studio  # noqa: PLC0415

        self._api = create_api(settings) if only in (None, Interface.API) else None
        self._studio = create_studio(settings) if only in (None, Interface.STUDIO) else None
        self._card_page = create_card_page(settings) if only in (None, Interface.CARD_PAGE) else None
        self._only = None if only is None else self._api or self._studio or self._card_page
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
        else:
            (alone,) = self._others
            registry = alone.metrics.registry
            registry.register(alone.readiness)
        registry.register(self.connections)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if self._only is not None:
            await self._only(scope, receive, send)
            return
        assert self._api is not None and self._studio is not None and self._card_page is not None  # noqa: S101, PT018
        if scope["type"] == "lifespan":
            await self._live(scope, receive, send)
        elif not scope["path"].startswith(OTHER_PATHS):
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
