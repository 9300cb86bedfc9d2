"""The secret of a link in a log: of the service, at every level, or of a proxy in front of it."""

import asyncio
import json
from pathlib import Path

import httpx2
import pytest

from tests import factory
from tests.attacks.proxy import Proxy, as_documented, log_until, start_proxy
from tests.card_page.event_stream import open_stream
from tests.card_page.links import changed_path_of, path_of
from tests.postgres import free_port
from tests.processes import GatepassProcess, serve


async def visit_every_way(port: int, tenant: factory.Tenant) -> set[str]:
    """Open live, replaced and wrong links in every way, with each method; the secrets that were sent."""
    card = await tenant.card()
    old, new = await path_of(tenant, card), await changed_path_of(tenant, card)
    wrong = new[:-1] + ("A" if new[-1] != "A" else "B")
    rests = ("", "/", "/state", "/state?language=nl", "/manifest.webmanifest", "/phone", "/nothing", "/%00", "/../x")
    async with httpx2.AsyncClient(base_url=f"http://127.0.0.1:{port}", timeout=60) as client:
        for path in (old, new, wrong, new.replace("/c/", "/%63/"), new.replace("/c/", "/c//"), new + "x" * 300):
            for rest in rests:
                for method in ("GET", "HEAD", "POST", "PUT", "BREW"):
                    await client.request(method, path + rest)
    async with open_stream(port, new + "/stream") as stream:
        if stream.status == 200:
            await stream.changed()
    return {one.removeprefix("/c/a.") for one in (old, new, wrong)}


@pytest.mark.parametrize("only", [None, "card-page", "studio", "api"])
async def test_no_log_of_ours_has_it(settings_env: dict[str, str], tenant: factory.Tenant, only: str | None) -> None:
    """Also of a process that serves no card pages, and gets their requests by a mistake of its proxy."""
    server = serve({**settings_env, "GATEPASS_LOG_LEVEL": "debug"}, free_port(), *(["--only", only] if only else []))
    try:
        secrets = await visit_every_way(server.port, tenant)
    finally:
        await asyncio.to_thread(server.stop)
    written = "".join(server.lines)
    assert '"status": 404' in written, "requests are logged"
    if only in (None, "card-page"):
        assert '"/{token}/state"' in written
    assert [secret for secret in secrets if secret in written] == []


async def test_a_fault_is_logged_without_it(settings_env: dict[str, str], tenant: factory.Tenant) -> None:
    """A wrong encryption key makes every page fail, with a traceback in the log."""
    path = await path_of(tenant, await tenant.card())
    server = serve({**settings_env, "GATEPASS_ENCRYPTION_KEYS": factory.new_key()}, free_port(), "--only", "card-page")
    try:
        async with httpx2.AsyncClient(base_url=server.url) as client:
            assert [(await client.get(path + rest)).status_code for rest in ("", "/state")] == [500, 500]
    finally:
        await asyncio.to_thread(server.stop)
    faults = [line for line in server.lines if "VaultLocked" in line]
    assert len(faults) == 2
    assert {json.loads(line)["route"] for line in faults} == {"/{token}", "/{token}/state"}
    assert path.removeprefix("/c/") not in "".join(server.lines)


async def test_haproxy_does_not_log_it(documented_proxy: Proxy, tenant: factory.Tenant) -> None:
    """`deploy/haproxy.cfg`, as it is."""
    secrets = await visit_every_way(documented_proxy.port, tenant)
    await _log_says_nothing(documented_proxy.log, secrets, await _mark(documented_proxy.port))


async def _mark(port: int) -> str:
    """A last request with a path that is logged, to know when the log is complete."""
    async with httpx2.AsyncClient(base_url=f"http://127.0.0.1:{port}") as client:
        await client.get("/api/public/v1/the-end")
    return "/api/public/v1/the-end"


async def _log_says_nothing(log: Path, secrets: set[str], mark: str) -> None:
    written = await asyncio.to_thread(log_until, log, mark)
    assert " cards/one " in written, "visits of card pages are logged"
    assert [secret for secret in secrets if secret in written] == []


async def test_the_usual_log_of_haproxy_would_have_it(
    behind_proxy: GatepassProcess, tenant: factory.Tenant, tmp_path: Path
) -> None:
    """The mutant of the test above: with `option httplog` the secret is found."""
    lines = [line for line in as_documented().splitlines() if "log-format" not in line]
    config = "\n".join(lines).replace("log global", "log global\n    option httplog") + "\n"
    started = start_proxy(tmp_path, behind_proxy.port, config)
    try:
        secrets = await visit_every_way(started.port, tenant)
        mark = await _mark(started.port)
        with pytest.raises(AssertionError):
            await _log_says_nothing(started.log, secrets, mark)
    finally:
        started.stop()
