"""A device that signs its journal and uploads it, paired by the domain's own verb."""

import hashlib
from base64 import urlsafe_b64encode
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from itertools import count
from typing import Any
from uuid import UUID

import httpx2
from nacl.signing import SigningKey

from gatepass.base.clock import rfc3339
from gatepass.domain import devices, twin
from gatepass.domain.keys import Mode
from tests.factory import BY, Tenant, now

Json = dict[str, Any]


@dataclass
class GateDevice:
    """`key` is its API key, `signing_key` signs its journal."""

    id: UUID
    key: str
    signing_key: SigningKey
    event_id: UUID
    gate: str
    numbers: Any = field(default_factory=lambda: count(1))

    def entry(
        self,
        *,
        number: str | None = None,
        token: str | None = None,
        sequence: int | None = None,
        key: str | None = None,
        event_id: UUID | None = None,
        gate: str | None = None,
        scanner_id: str | None = None,
        occurred_at: datetime | str | None = None,
        admitted: bool = True,
        signer: SigningKey | None = None,
        signed_as: UUID | None = None,
    ) -> Json:
        """An entry with a good signature, unless another signs it."""
        sequence = next(self.numbers) if sequence is None else sequence
        if not isinstance(occurred_at, str):
            occurred_at = rfc3339(occurred_at or now())
        body: Json = {
            "sequence": sequence,
            "idempotency_key": key or f"{self.id}-{sequence}",
            "event_id": str(event_id or self.event_id),
            "gate": gate or self.gate,
            "scanner_id": scanner_id,
            "occurred_at": occurred_at,
            "admitted": admitted,
        }
        body |= {"token": token} if token is not None else {"card_number": number}
        return {**body, "signature": signature(body, signer or self.signing_key, signed_as or self.id)}

    def scan_body(self, entry: Json) -> Json:
        """The same try as `POST /scan`."""
        left_out = ("sequence", "idempotency_key", "admitted", "signature")
        return {name: value for name, value in entry.items() if name not in left_out and value is not None}


def signature(body: Json, signer: SigningKey, device_id: UUID) -> str:
    shown = body.get("token") or body.get("card_number") or ""
    parts = (
        "svc-journal-1",
        str(device_id),
        str(body["sequence"]),
        body["idempotency_key"],
        body["event_id"],
        hashlib.sha256(shown.encode()).hexdigest(),
        body["gate"] or "",
        body["occurred_at"],
        "true" if body["admitted"] else "false",
    )
    return urlsafe_b64encode(signer.sign("\n".join(parts).encode()).signature).rstrip(b"=").decode()


async def pair(
    tenant: Tenant,
    gate: str = "North",
    *,
    event_id: UUID | None = None,
    signing_key: SigningKey | None = None,
    ago: timedelta = timedelta(hours=2),
) -> GateDevice:
    """A device that was paired a while ago."""
    signing_key, event_id = signing_key or SigningKey.generate(), event_id or tenant.event_id
    mode = Mode.SANDBOX if twin.is_twin(tenant.id) else Mode.LIVE
    async with tenant.db.transaction() as tx:
        device, key = await devices.pair_now(
            tx, twin.owner_of(tenant.id), mode, gate, bytes(signing_key.verify_key), event_id, gate,
            cell=tenant.cell, by=BY, at=now() - ago,
        )  # fmt: skip
    return GateDevice(device.id, key, signing_key, event_id, gate)


async def upload(client: httpx2.AsyncClient, *entries: Json) -> list[Json]:
    """The results of these entries."""
    answer = await client.post("/scans/batch", json={"entries": list(entries)})
    assert answer.status_code == 200, answer.text
    return answer.json()["data"]["results"]


async def upload_one(client: httpx2.AsyncClient, entry: Json) -> tuple[str, str | None, list[str]]:
    """Outcome, code and kinds of incidents of this entry."""
    (result,) = await upload(client, entry)
    return result["outcome"], result["code"], [one["kind"] for one in result["incidents"]]
