"""A call that changes something. Its audit row is written in the transaction of the change itself."""

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Annotated, Any

from fastapi import Depends, Request

from gatepass.api.admission import call_of, needs
from gatepass.api.call import Call
from gatepass.api.gatehouse import Gatehouse
from gatepass.api.incoming import Incoming
from gatepass.base.database import Tx
from gatepass.domain import audit
from gatepass.domain.keys import Caller, Scope


@dataclass(frozen=True, slots=True)
class Change:
    house: Gatehouse
    call: Call
    caller: Caller
    incoming: Incoming

    @property
    def by(self) -> str:
        return f"key {self.caller.key_id}"

    @property
    def at(self) -> datetime:
        return self.call.at

    @asynccontextmanager
    async def transaction(self, status: int) -> AsyncGenerator[Tx]:
        """A transaction that also writes down this call, with the status that it will be answered with.

        A change that is refused in it leaves nothing behind; reception writes its row then, as for every refusal.
        """
        async with self.house.db.transaction(self.call.address) as tx:
            yield tx
            await audit.write(tx, [replace(self.call.audit_row(self.caller), status=status)])
        self.call.audited = True


def changes(scope: Scope) -> Any:
    """A dependency: the change, if the caller's key has this scope and is within its rate."""

    async def admitted(request: Request, caller: Annotated[Caller, needs(scope)]) -> Change:
        incoming = Incoming(request.scope, request.receive)
        return Change(request.app.state.house, call_of(request), caller, incoming)

    return Depends(admitted)
