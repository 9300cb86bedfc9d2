"""The express lane: the two hot endpoints, answered in front of FastAPI.

What a gate waits for is one small function from a request to an Answer. The lane calls it directly;
the route that FastAPI describes calls the same one, so that both lanes answer alike.
"""

from collections.abc import Awaitable, Callable, Mapping

from fastapi import Request
from starlette.responses import Response
from starlette.types import ASGIApp, Receive, Scope, Send

from gatepass.api.admission import call_of, confirmed, route_path
from gatepass.api.answer import Answer
from gatepass.api.call import Call
from gatepass.api.errors import answer
from gatepass.api.gatehouse import Gatehouse
from gatepass.api.incoming import Incoming
from gatepass.base.refusals import Refusal
from gatepass.base.settings import BASE_PATH

Endpoint = Callable[[Gatehouse, Call, Incoming], Awaitable[Answer]]


class ExpressLane:
    def __init__(self, app: ASGIApp, house: Gatehouse, endpoints: Mapping[tuple[str, str], Endpoint]) -> None:
        """`endpoints` by method and path below the base path; everything else goes on to `app`."""
        self._app = app
        self._house = house
        self._endpoints = {
            (method, BASE_PATH + path): (endpoint, path) for (method, path), endpoint in endpoints.items()
        }

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        found = self._endpoints.get((scope["method"], scope["path"])) if scope["type"] == "http" else None
        if found is None:
            await self._app(scope, receive, send)
            return
        call: Call = scope["gatepass.call"]
        endpoint, call.path = found
        made = await _answered(endpoint, self._house, call, Incoming(scope, receive))
        await send(made.start())
        await send({"type": "http.response.body", "body": made.body})


async def through(endpoint: Endpoint, request: Request) -> Response:
    """The same endpoint as a FastAPI route."""
    call = call_of(request)
    call.path = route_path(request)
    made = await _answered(endpoint, request.app.state.house, call, Incoming(request.scope, request.receive))
    return made.response()


async def _answered(endpoint: Endpoint, house: Gatehouse, call: Call, incoming: Incoming) -> Answer:
    try:
        return await endpoint(house, call, incoming)
    except Refusal as refusal:
        last_word = await confirmed(house, call, incoming.header(b"authorization"), refusal)
        call.code = last_word.code
        return answer(last_word, call.caller.mode if call.caller else None)
