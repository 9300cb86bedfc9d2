"""A device that wants to be paired, as an attacker would drive it: every part of it can be forged."""

from base64 import urlsafe_b64encode
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any
from uuid import UUID

import httpx2
from nacl.signing import SigningKey

from gatepass.base.clock import rfc3339
from gatepass.domain.devices import Device, pairing
from gatepass.domain.devices.pairing import MadeCode
from gatepass.domain.keys import Mode
from tests.factory import BY, Tenant, now


def written(raw: bytes) -> str:
    return urlsafe_b64encode(raw).rstrip(b"=").decode()


@dataclass
class Handset:
    client: httpx2.AsyncClient
    key: SigningKey = field(default_factory=SigningKey.generate)
    name: str = "North 2"

    @property
    def public_key(self) -> bytes:
        return bytes(self.key.verify_key)

    async def ask(self, code: str, **more: Any) -> httpx2.Response:
        body = {"public_key": written(self.public_key), "name": self.name, "app": "test/1", **more}
        return await self.client.post(f"/gate/pair/{code}", json=body)

    async def request(self, code: str) -> str:
        answer = await self.ask(code)
        assert answer.status_code == 202, answer.text
        return answer.json()["data"]["request"]

    def signed(self, request: str, *, at: datetime | None = None, context: str = "svc-pair-1") -> dict[str, str]:
        text = rfc3339(at or now())
        return {"at": text, "signature": written(self.key.sign(f"{context}\n{request}\n{text}".encode()).signature)}

    async def fetch(self, request: str, body: dict[str, str] | None = None) -> httpx2.Response:
        return await self.client.post(f"/gate/pair/{request}/key", json=body or self.signed(request))


@dataclass
class Lead:
    """The lead who shows codes and decides, by the domain's own verbs."""

    tenant: Tenant

    async def code(
        self,
        devices: int = 1,
        *,
        mode: Mode = Mode.LIVE,
        event_id: UUID | None = None,
        gate: str = "North",
        cell: str = "a",
    ) -> MadeCode:
        async with self.tenant.db.transaction() as tx:
            return await pairing.make_code(
                tx,
                self.tenant.id,
                mode,
                event_id or self.tenant.event_id,
                gate,
                devices=devices,
                cell=cell,
                by=BY,
                at=now(),
            )

    async def confirm(self, code: MadeCode, request: str) -> Device:
        async with self.tenant.db.transaction() as tx:
            return await pairing.confirm(tx, self.tenant.id, Mode.LIVE, code.id, request, by=BY, at=now())

    async def refuse(self, code: MadeCode, request: str) -> None:
        async with self.tenant.db.transaction() as tx:
            await pairing.refuse(tx, self.tenant.id, Mode.LIVE, code.id, request, by=BY, at=now())

    async def end(self, code: MadeCode) -> None:
        async with self.tenant.db.transaction() as tx:
            await pairing.end_code(tx, self.tenant.id, Mode.LIVE, code.id, by=BY, at=now())

    async def age(self, code: MadeCode, by: timedelta = timedelta(minutes=10)) -> None:
        """Let time pass for this code."""
        async with self.tenant.db.transaction() as tx:
            await tx.run(
                "UPDATE pairing_code SET expires_at = expires_at - $3::interval WHERE organization_id = $1 AND id = $2",
                self.tenant.id,
                code.id,
                by,
            )

    async def requests(self, code: MadeCode) -> list[pairing.PairingRequest]:
        async with self.tenant.db.autocommit() as tx:
            return await pairing.requests_of(tx, self.tenant.id, code.id)

    async def living_keys(self, public_key: bytes | None = None) -> int:
        """How many keys of devices work now; of this device alone, if it is named."""
        async with self.tenant.db.autocommit() as tx:
            return await tx.value(
                "SELECT count(*) FROM api_key k JOIN device d ON d.organization_id = k.organization_id"
                " AND d.id = k.device_id WHERE k.organization_id = $1 AND k.revoked_at IS NULL"
                " AND ($2::bytea IS NULL OR d.public_key = $2)",
                self.tenant.id,
                public_key,
            )
