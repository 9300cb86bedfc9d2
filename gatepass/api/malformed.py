"""Calls that HTTP itself refuses, such as one with two keys of an idempotency: with a known API key each has its row.

The server answers them before they reach an application (`server/request_head.py`), and tells this module.
"""

import asyncio
from contextlib import suppress
from typing import Final
from uuid import UUID

from starlette.types import Scope

from gatepass.api.auth import authorize
from gatepass.api.request import ApiCall
from gatepass.api.routes.routers import template_of
from gatepass.api.state import ApiState
from gatepass.base.client_ip import FORWARDED_FOR, Address, caller_address
from gatepass.base.deadline import begin_call
from gatepass.base.errors import InvalidRequest, Refusal
from gatepass.base.settings import BASE_PATH

BAD_REQUEST: Final = 400


class MalformedCalls:
    def __init__(self, state: ApiState) -> None:
        self._state = state
        self._noted: set[asyncio.Task[None]] = set()

    def note(self, scope: Scope, id: UUID) -> None:
        """Write its row within a second, if its key is known."""
        if scope["path"].startswith(BASE_PATH + "/"):
            task = asyncio.get_running_loop().create_task(self._note(scope, id))
            self._noted.add(task)
            task.add_done_callback(self._noted.discard)

    async def _note(self, scope: Scope, id: UUID) -> None:
        keys = {value for name, value in scope["headers"] if name == b"authorization"}
        if len(keys) != 1:  # which of them it is, nobody can say
            return
        begin_call(self._state.settings.database_deadline)
        call = ApiCall(at=self._state.clock(), method=scope["method"], address=self._address(scope), id=id)
        call.path = template_of(call.method, scope["path"].removeprefix(BASE_PATH))
        with suppress(Refusal):  # a key that is revoked, or over its rate, is known too
            await authorize(self._state, call, keys.pop().decode("latin-1"), None)
        call.status, call.code = BAD_REQUEST, InvalidRequest.code
        if call.caller is not None:
            self._state.request_log.note(call.log_row(call.caller))

    def _address(self, scope: Scope) -> Address | None:
        """Of two headers that name an address, neither does."""
        forwarded = [name for name, _ in scope["headers"] if name == FORWARDED_FOR]
        trusted = self._state.settings.trusted_proxies if len(forwarded) < 2 else ()
        return caller_address(scope, trusted)
