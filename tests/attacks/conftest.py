"""The stack under attack: a real `gatepass serve` with the API and the studio, and HAProxy in front where it matters.

Each test case is one attempt. `@pytest.mark.finding(3)` names the finding of a security review that it repeats.
"""

from collections.abc import Generator

import pytest

from gatepass.base.database import Database
from tests import factory
from tests.attacks.accounts.visitor import World, make_world
from tests.attacks.proxy import Proxy, as_documented, start_proxy
from tests.attacks.target import Target, make_target
from tests.postgres import free_port
from tests.processes import PROGRAM, GatepassProcess, serve


@pytest.fixture(scope="session")
def behind_proxy(settings_env: dict[str, str]) -> Generator[GatepassProcess]:
    """A server that believes the X-Forwarded-For of a proxy on this machine."""
    process = serve({**settings_env, "GATEPASS_TRUSTED_PROXIES": "127.0.0.1"}, free_port())
    yield process
    process.stop()


@pytest.fixture(scope="session")
def proxy(behind_proxy: GatepassProcess, tmp_path_factory: pytest.TempPathFactory) -> Generator[Proxy]:
    """HAProxy in front of that server. It names the caller's address, after what the caller sent."""
    started = start_proxy(tmp_path_factory.mktemp("haproxy"), behind_proxy.port)
    yield started
    started.stop()


@pytest.fixture(scope="session")
def documented_proxy(behind_proxy: GatepassProcess, tmp_path_factory: pytest.TempPathFactory) -> Generator[Proxy]:
    """HAProxy as `deploy/haproxy.cfg` has it: it replaces what the caller sent by the caller's address."""
    started = start_proxy(tmp_path_factory.mktemp("documented"), behind_proxy.port, as_documented())
    yield started
    started.stop()


@pytest.fixture(scope="session")
async def target(db: Database, server: GatepassProcess) -> Target:
    """An organization whose owner attacks, and another one that must not notice."""
    return await make_target(db, server)


@pytest.fixture(scope="session")
def world(behind_proxy: GatepassProcess, settings_env: dict[str, str]) -> World:
    """Two organizations with an owner each, one of them an attacker's. Each visitor has an address of their own."""
    return make_world(behind_proxy, [PROGRAM], settings_env)


@pytest.fixture(scope="session")
def watched(settings_env: dict[str, str]) -> Generator[GatepassProcess]:
    """A server whose log is read. It believes X-Forwarded-For, so that each attempt has an address of its own."""
    environment = {
        **settings_env,
        "GATEPASS_TRUSTED_PROXIES": "127.0.0.1",
        "GATEPASS_ENCRYPTION_KEYS": factory.KEY,
        "GATEPASS_LOG_LEVEL": "info",
    }
    process = serve(environment, free_port())
    yield process
    process.stop()
