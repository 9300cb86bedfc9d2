"""The fast path: scans, verifications and reads of events, answered in front of FastAPI.

Each is one function from a RawRequest to a Reply. The fast path calls it directly. The FastAPI route, which the
interface description is made from, calls the same function, so that both answer alike.
"""

from collections.abc import Awaitable, Callable, Mapping
from typing import Final

from fastapi import Request
from starlette.responses import Response
from starlette.types import ASGIApp, Receive, Scope, Send

from gatepass.api.auth import call_of, confirmed, route_path
from gatepass.api.request import ApiCall, RawRequest
from gatepass.api.responses import Reply, refusal_reply
from gatepass.api.state import ApiState
from gatepass.base.errors import Refusal
from gatepass.base.settings import BASE_PATH

ID: Final = "{id}"

Endpoint = Callable[[ApiState, ApiCall, RawRequest], Awaitable[Reply]]


class FastPath:
    def __init__(self, app: ASGIApp, state: ApiState, endpoints: Mapping[tuple[str, str], Endpoint]) -> None:
        """`endpoints` are by method and path below the base path, which may end in `{id}`; `app` gets all others."""
        self._app = app
        self._state = state
        # A path with an id is found by what stands before it.
        self._endpoints = {
            (method, BASE_PATH + path.removesuffix(ID)): (endpoint, path)
            for (method, path), endpoint in endpoints.items()
        }

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        found = self._found(scope["method"], scope["path"]) if scope["type"] == "http" else None
        if found is None:
            await self._app(scope, receive, send)
            return
        call: ApiCall = scope["gatepass.call"]
        endpoint, call.path = found
        reply = await _reply(endpoint, self._state, call, RawRequest(scope, receive))
        await send(reply.start())
        await send({"type": "http.response.body", "body": reply.body})

    def _found(self, method: str, path: str) -> tuple[Endpoint, str] | None:
        if path.endswith("/"):  # no id
            return None
        return self._endpoints.get((method, path)) or self._endpoints.get((method, path[: path.rfind("/") + 1]))


async def as_route(endpoint: Endpoint, request: Request) -> Response:
    """The same endpoint as a FastAPI route."""
    call = call_of(request)
    call.path = route_path(request)
    reply = await _reply(endpoint, request.app.state.api_state, call, RawRequest(request.scope, request.receive))
    return reply.response()


async def _reply(endpoint: Endpoint, state: ApiState, call: ApiCall, request: RawRequest) -> Reply:
    try:
        return await endpoint(state, call, request)
    except Refusal as first:
        refusal = await confirmed(state, call, request.header(b"authorization"), first)
        call.refuse(refusal)
        return refusal_reply(refusal, call.caller.mode if call.caller else None)
