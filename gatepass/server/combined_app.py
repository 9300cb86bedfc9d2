"""The doors that a process opens: the API, the studio, or both behind one port."""

from enum import StrEnum
from typing import Final

from starlette.types import Receive, Scope, Send

from gatepass.base.settings import Settings

STUDIO_PATHS: Final = ("/studio", "/covers/")


class Door(StrEnum):
    API = "api"
    STUDIO = "studio"


class Doors:
    """One ASGI application. What happens at `stop` ends what streams."""

    def __init__(self, settings: Settings, only: Door | None) -> None:
        # FastAPI takes more than a second to import; `gatepass --help` should not wait for it.
        from gatepass.api.app import create_app as create_api  # noqa: PLC0415
        from gatepass.studio.app import create_app as create_studio  # noqa: PLC0415

        self._api = create_api(settings) if only is not Door.STUDIO else None
        self._studio = create_studio(settings) if only is not Door.API else None
        if self._api is not None and self._studio is not None:
            self._api.house.metrics.registry.register(self._studio.studio.metrics)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if self._studio is None:
            await self._api_alone(scope, receive, send)
        elif self._api is None or (scope["type"] == "http" and scope["path"].startswith(STUDIO_PATHS)):
            await self._studio(scope, receive, send)
        elif scope["type"] == "lifespan":
            async with self._studio.studio.opened():
                await self._api(scope, receive, send)
        else:
            await self._api(scope, receive, send)

    async def _api_alone(self, scope: Scope, receive: Receive, send: Send) -> None:
        assert self._api is not None  # noqa: S101  one of the two is there
        await self._api(scope, receive, send)

    def stop(self) -> None:
        if self._studio is not None:
            self._studio.studio.stop()
