"""The application of a server process: the API, the studio, or both on one port."""

from contextlib import AbstractAsyncContextManager
from enum import StrEnum
from typing import Final

from starlette.types import ASGIApp, Message, Receive, Scope, Send

from gatepass.base.settings import Settings
from gatepass.server.connections import Connections

STUDIO_PATHS: Final = ("/studio", "/covers/")


class Interface(StrEnum):
    API = "api"
    STUDIO = "studio"


class CombinedApp:
    """One ASGI application. `stop` ends its streams."""

    def __init__(self, settings: Settings, only: Interface | None) -> None:
        # FastAPI takes more than a second to import; `gatepass --help` should not wait for it.
        from gatepass.api.app import create_app as create_api  # noqa: PLC0415
        from gatepass.studio.app import create_app as create_studio  # noqa: PLC0415

        self._api = create_api(settings) if only is not Interface.STUDIO else None
        self._studio = create_studio(settings) if only is not Interface.API else None
        self.connections = Connections.of(settings)
        if self._api is not None:
            registry = self._api.state.metrics.registry
            if self._studio is not None:
                registry.register(self._studio.studio.metrics)
            registry.register(self.connections)
        elif self._studio is not None:
            registry = self._studio.studio.metrics.registry
            registry.register(self.connections)
            registry.register(self._studio.studio.readiness)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if self._studio is None:
            await self._api_only(scope, receive, send)
        elif self._api is None or (scope["type"] == "http" and scope["path"].startswith(STUDIO_PATHS)):
            await self._studio(scope, receive, send)
        elif scope["type"] == "lifespan":
            await _live_within(self._studio.studio.opened(), self._api, scope, receive, send)
        else:
            await self._api(scope, receive, send)

    async def _api_only(self, scope: Scope, receive: Receive, send: Send) -> None:
        assert self._api is not None  # noqa: S101  one of the two is there
        await self._api(scope, receive, send)

    def stop(self) -> None:
        if self._studio is not None:
            self._studio.studio.stop()


async def _live_within(
    opened: AbstractAsyncContextManager[None], app: ASGIApp, scope: Scope, receive: Receive, send: Send
) -> None:
    """The life of `app`, within that of another. The server ends its loop when it hears that all is closed."""
    closed: list[Message] = []

    async def send_on(message: Message) -> None:
        if message["type"] == "lifespan.shutdown.complete":
            closed.append(message)
        else:
            await send(message)

    async with opened:
        await app(scope, receive, send_on)
    for message in closed:
        await send(message)
