"""Heads of requests: blanks after a value are none of it, and a call that HTTP refuses has its row too."""

import json
from typing import Any

import pytest

from gatepass.base.settings import BASE_PATH
from gatepass.domain import keys
from tests import factory
from tests.factory import Tenant
from tests.faults.gates import wait_for
from tests.processes import GatepassProcess
from tests.server.raw_http import one, request

BLANKS = [" ", "\t", " \t "]
JSON = ("Content-Type", "application/json")


def head(method: str, path: str, *lines: bytes) -> bytes:
    first = f"{method} {BASE_PATH}{path} HTTP/1.1\r\n".encode()
    return first + b"Host: gatepass.test\r\n" + b"".join(line + b"\r\n" for line in lines) + b"\r\n"


@pytest.mark.parametrize("blank", BLANKS, ids=repr)
async def test_blanks_around_a_value_are_none_of_it(server: GatepassProcess, tenant: Tenant, blank: str) -> None:
    key = ("Authorization", f"Bearer {(await tenant.key()).text}{blank}")
    events = request("GET", BASE_PATH + "/events", [key], host=f"gatepass.test{blank}")
    assert one(server.port, events).status == 200
    for path, body, named in (
        ("/scan", scanned(tenant, (await tenant.card()).number), "Idempotency-Key"),
        ("/cards", {}, "idempotency-key"),
    ):
        raw = json.dumps(body).encode()
        sent = [request("POST", BASE_PATH + path, [key, JSON, (named, text)], raw) for text in (path, path + blank)]
        first, again = [one(server.port, bytes) for bytes in sent]
        assert first.status < 300, first.body
        assert again.headers.get("idempotent-replayed") == "true"
        assert again.body == first.body


def scanned(tenant: Tenant, number: str) -> dict[str, Any]:
    return {"event_id": str(tenant.event_id), "card_number": number}


REFUSED = {
    "an idempotency key twice": ("POST", "/scan", "/scan", [b"Idempotency-Key: a", b"Idempotency-Key: b"]),
    "an API key twice, alike": ("GET", "/events", "/events", []),
    "an If-Match twice": ("PATCH", "/cards/x", "/cards/{id}", [b'If-Match: "a"', b'If-Match: "a"']),
    "a host that is none": ("GET", "/tickets/batch", "/tickets/batch", [b"Host: ["]),
    "gzip": ("POST", "/tickets/batch", "/tickets/batch", [b"Transfer-Encoding: gzip"]),
    "an unknown path": ("GET", "/nowhere", "(unknown)", [b"Origin: a", b"Origin: a"]),
}


@pytest.mark.parametrize("name", REFUSED)
@pytest.mark.parametrize("is_first", [True, False], ids=["key first", "key last"])
async def test_a_call_that_http_refuses_has_one_row(
    server: GatepassProcess, tenant: Tenant, name: str, is_first: bool
) -> None:
    method, path, template, lines = REFUSED[name]
    key = [f"Authorization: Bearer {(await tenant.key()).text}".encode()] * (2 if "API key" in name else 1)
    answer = one(server.port, head(method, path, *(key + lines if is_first else lines + key)))
    assert (answer.status, json.loads(answer.body)["code"]) == (400, "invalid_request")
    row = await only_row(tenant)
    assert (row["method"], row["path"], row["status"], row["code"]) == (method, template, 400, "invalid_request")
    assert f"req_{row['id'].hex}" == answer.headers["x-request-id"]


async def test_a_revoked_key_has_its_row_and_two_keys_have_none(server: GatepassProcess, tenant: Tenant) -> None:
    revoked, other = await tenant.key(), await tenant.key()
    async with tenant.db.transaction() as tx:
        await keys.revoke(tx, tenant.id, revoked.id, by="test", at=factory.now())
    twice = [b"Idempotency-Key: a"] * 2
    both = [f"Authorization: Bearer {key.text}".encode() for key in (revoked, other)]
    assert one(server.port, head("POST", "/scan", *both)).status == 400
    assert one(server.port, head("POST", "/scan", both[0], *twice)).status == 400
    assert (await only_row(tenant))["key_id"] == revoked.id


async def only_row(tenant: Tenant) -> Any:
    async def rows() -> list[Any]:
        async with tenant.db.autocommit() as tx:
            return await tx.rows("SELECT * FROM request_log WHERE organization_id = $1", tenant.id)

    async def is_there() -> bool:
        return bool(await rows())

    await wait_for(is_there)
    (row,) = await rows()
    return row
