import socket
from urllib.request import urlopen

import pytest

from gatepass.base.encryption import new_key
from tests.cli.command import Command, line_with
from tests.postgres import free_port


@pytest.fixture
def gatepass(gatepass: Command) -> Command:
    """With a key for the secrets of webhooks."""
    return gatepass.having(GATEPASS_ENCRYPTION_KEYS=new_key())


def test_port_zero_prints_the_port_that_was_bound(on_database: Command) -> None:
    with on_database.cold.started("serve", "--port", "0") as process:
        url = line_with(process, "listens on").split()[-1]
        with urlopen(f"{url}/readyz") as answer:
            assert answer.status == 200
            assert "uvicorn" not in answer.headers.get("server", "")
        process.terminate()
        assert process.wait(60) == 0


def test_it_serves_while_the_database_is_away(gatepass: Command) -> None:
    away = gatepass.having(GATEPASS_DATABASE_URL=f"postgresql://127.0.0.1:{free_port()}/x")
    with away.started("serve", "--port", "0") as process:
        url = line_with(process, "listens on").split()[-1]
        with urlopen(f"{url}/livez") as answer:
            assert answer.status == 200


def test_wrong_settings_are_told_by_name(gatepass: Command) -> None:
    told = gatepass.having(GATEPASS_PORT="high", GATEPASS_TRUSTED_PROXIES="here")("serve")
    assert told.returncode == 2
    assert [line.split(":")[0] for line in told.stderr.splitlines()] == ["GATEPASS_PORT", "GATEPASS_TRUSTED_PROXIES"]


def test_it_does_not_start_without_a_key_for_secrets(gatepass: Command) -> None:
    for key, wrong in (("", "no encryption key is configured"), ("hush", "an encryption key is 32 random bytes")):
        told = gatepass.having(GATEPASS_ENCRYPTION_KEYS=key)("serve", "--port", "0")
        assert told.returncode == 2
        assert told.stderr.startswith(f"GATEPASS_ENCRYPTION_KEYS: {wrong}")
        assert "hush" not in told.stderr


def test_a_setting_that_is_wrong_is_not_repeated(gatepass: Command) -> None:
    told = gatepass.having(GATEPASS_DATABASE_URL="mysql://me:hush@host/x")("serve")
    assert told.returncode == 2
    assert "hush" not in told.stderr


def test_a_port_that_is_taken_is_told_in_one_line(gatepass: Command) -> None:
    with socket.create_server(("127.0.0.1", 0)) as other:
        port = other.getsockname()[1]
        told = gatepass("serve", "--port", str(port))
    assert told.returncode == 1
    assert told.stderr.startswith(f"Port {port} is taken.")
    assert told.stderr.count("\n") == 1


def test_a_port_for_metrics_that_is_taken_is_told_in_one_line(gatepass: Command) -> None:
    with socket.create_server(("127.0.0.1", 0)) as other:
        port = str(other.getsockname()[1])
        told = gatepass.having(GATEPASS_METRICS_PORT=port)("serve", "--port", "0")
    assert told.returncode == 1
    assert told.stderr.startswith(f"GATEPASS_METRICS_PORT: port {port} is taken.")


def test_an_address_that_is_not_ours_is_told_in_one_line(gatepass: Command) -> None:
    told = gatepass("serve", "--host", "192.0.2.1", "--port", "0")
    assert told.returncode == 1
    assert told.stderr.startswith("This machine cannot listen at 192.0.2.1")
