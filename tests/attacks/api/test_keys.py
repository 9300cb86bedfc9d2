"""API keys: guessed, mangled, in the wrong place, dead."""

from datetime import timedelta

import pytest

from gatepass.domain import keys
from gatepass.domain.keys import Mode
from tests import factory
from tests.processes import GatepassProcess


async def status(server: GatepassProcess, headers: dict[str, str], attempt: int, path: str = "/events") -> int:
    """Each attempt comes from an address of its own, so that the limit on failures does not answer for the key."""
    forwarded = {"X-Forwarded-For": f"198.51.100.{attempt}"}
    async with server.client() as client:
        return (await client.get(path, headers=headers | forwarded)).status_code


HEADERS = [
    "",
    "Bearer",
    "Bearer  {key}",
    "Bearer\t{key}",
    "Bearer {key} x",
    "Bearer {key}, Bearer {key}",
    'Bearer "{key}"',
    "Bearer={key}",
    "Basic {key}",
    "Token {key}",
    "{key}",
    "Bearer {key}A",
    "Bearer {head}",
    "Bearer {lower}",
    "Bearer {upper}",
    "Bearer {other_mode}",
    "Bearer {other_cell}",
    "Bearer {last_changed}",
    "Bearer svc_live_a" + "0" * 36,
    "Bearer svc_live_" + "a" * 4000,
    "Bearer ' OR 1=1 --",
    "Bearer null",
    "Bearer undefined",
    "Bearer {key}%00",
    "Bearer %73vc{tail}",
]


@pytest.mark.parametrize("number", range(len(HEADERS)), ids=lambda number: HEADERS[number][:40])
async def test_a_mangled_key(behind_proxy: GatepassProcess, tenant: factory.Tenant, number: int) -> None:
    key = (await tenant.key()).text
    header = HEADERS[number].format(
        key=key,
        head=key[:-1],
        tail=key[3:],
        lower=key.lower(),
        upper=key.upper(),
        other_mode=key.replace("live", "test"),
        other_cell=key.replace("live_a", "live_b"),
        last_changed=key[:-1] + ("0" if key[-1] != "0" else "1"),
    )
    assert await status(behind_proxy, {"Authorization": header}, number) == 401


PLACES = ["query", "cookie", "x-api-key", "body", "user"]


@pytest.mark.parametrize("number", range(len(PLACES)), ids=lambda number: PLACES[number])
async def test_a_key_in_another_place(behind_proxy: GatepassProcess, tenant: factory.Tenant, number: int) -> None:
    key = (await tenant.key()).text
    headers: dict[str, str] = {"cookie": {"Cookie": f"key={key}; Authorization=Bearer {key}"}}.get(PLACES[number], {})
    if PLACES[number] == "x-api-key":
        headers = {"X-API-Key": key}
    path = f"/events?key={key}&access_token={key}" if PLACES[number] == "query" else "/events"
    assert await status(behind_proxy, headers, 50 + number, path) == 401


DEATHS = ["revoked", "expired", "elsewhere", "sandbox for live"]


@pytest.mark.parametrize("number", range(len(DEATHS)), ids=lambda number: DEATHS[number])
async def test_a_dead_key(behind_proxy: GatepassProcess, tenant: factory.Tenant, number: int) -> None:
    match DEATHS[number]:
        case "revoked":
            made = await tenant.key()
            assert await status(behind_proxy, {"Authorization": f"Bearer {made.text}"}, 60) == 200
            async with tenant.db.transaction() as tx:
                await keys.revoke(tx, tenant.id, made.id, by=factory.BY, at=factory.now())
        case "expired":
            made = await tenant.key(expires_at=factory.now() - timedelta(seconds=1))
        case "elsewhere":
            made = await tenant.key(networks="203.0.113.0/24")
        case _:
            made = await tenant.key(mode=Mode.SANDBOX)
            key = made.text.replace("test", "live")
            assert await status(behind_proxy, {"Authorization": f"Bearer {key}"}, 61) == 401
            return
    assert await status(behind_proxy, {"Authorization": f"Bearer {made.text}"}, 62 + number) == 401
