"""One call: what is known about it while it is being answered."""

import time
from datetime import datetime
from typing import Final
from uuid import UUID

import msgspec

from gatepass.base.ids import new_id, request_text
from gatepass.domain import audit
from gatepass.domain.keys import Address, Caller
from gatepass.domain.limits import Standing

UNKNOWN_PATH: Final = "(unknown)"
# A little over half an hour: the audit's column holds that, and room for what the statement adds.
LONGEST_US: Final = 2_000_000_000


class Call(msgspec.Struct):
    at: datetime
    method: str
    address: Address | None
    id: UUID = msgspec.field(default_factory=new_id)
    began: float = msgspec.field(default_factory=time.perf_counter)
    path: str = UNKNOWN_PATH
    caller: Caller | None = None
    standing: Standing | None = None
    event_id: UUID | None = None
    status: int = 0
    code: str | None = None
    audited: bool = False
    unconfirmed: bool = False

    @property
    def request_id(self) -> str:
        return request_text(self.id)

    def elapsed_us(self) -> int:
        return min(int((time.perf_counter() - self.began) * 1_000_000), LONGEST_US)

    def is_change(self) -> bool:
        """Whether the call wanted to change something; its audit row is then written before the answer."""
        return self.method not in ("GET", "HEAD", "OPTIONS")

    def audit_row(self, caller: Caller) -> audit.Call:
        return audit.Call(
            organization_id=caller.organization_id,
            at=self.at,
            id=self.id,
            mode=caller.mode,
            key_id=caller.key_id,
            method=self.method,
            path=self.path,
            status=self.status,
            code=self.code,
            address=self.address,
            duration_us=self.elapsed_us(),
            event_id=self.event_id,
        )
