"""A call that changes something. The transaction of the change also writes its row in the request log."""

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Annotated, Any, Final

from fastapi import Depends, Request

from gatepass.api.auth import call_of, needs
from gatepass.api.request import ApiCall, RawRequest
from gatepass.api.state import ApiState
from gatepass.base.database import Tx
from gatepass.domain import request_log, twin
from gatepass.domain.keys import Caller, Mode, Scope

# What is written with the others, such as a webhook endpoint, belongs to the organization in both modes.
TENANT_SCOPES: Final = frozenset({Scope.EVENTS_WRITE, Scope.CARDS_WRITE, Scope.TICKETS_WRITE})


@dataclass(frozen=True, slots=True)
class Write:
    state: ApiState
    call: ApiCall
    caller: Caller
    request: RawRequest
    scope: Scope

    @property
    def by(self) -> str:
        return f"key {self.caller.key_id}"

    @property
    def at(self) -> datetime:
        return self.call.at

    async def open(self, tx: Tx) -> None:
        """The first statement of its transaction: in the sandbox, the twin must be there before it is changed."""
        if self.caller.mode is Mode.SANDBOX and self.scope in TENANT_SCOPES:
            await twin.open_for_changes(tx, self.caller.organization_id, at=self.at)

    @asynccontextmanager
    async def transaction(self, status: int) -> AsyncGenerator[Tx]:
        """A transaction that also writes the row of this call, with the status of its reply.

        If the change is refused, all of it is rolled back; the middleware then writes the row, as for every refusal.
        """
        async with self.state.writing():
            async with self.state.db.transaction(self.call.address) as tx:
                await self.open(tx)
                yield tx
                await self.log(tx, status)
            self.call.logged = True

    async def log(self, tx: Tx, status: int) -> None:
        """Write the row of this call; it is there once `tx` has committed."""
        await request_log.write(tx, [replace(self.call.log_row(self.caller), status=status)])


def writes(scope: Scope) -> Any:
    """A dependency: the write, if the caller's key has this scope and is within its rate."""

    async def authorized(request: Request, caller: Annotated[Caller, needs(scope)]) -> Write:
        raw = RawRequest(request.scope, request.receive)
        return Write(request.app.state.api_state, call_of(request), caller, raw, scope)

    return Depends(authorized)
