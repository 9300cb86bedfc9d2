import json
import signal
import socket
import subprocess
import time
from urllib.request import urlopen

from gatepass.base.encryption import new_key
from tests.cli.command import Command, line_with
from tests.domain.maintenance.wrong_clocks import off_by
from tests.postgres import free_port
from tests.processes import page_of, status_of


def test_it_says_when_it_works_and_stops_when_told(on_database: Command) -> None:
    for number in (signal.SIGTERM, signal.SIGINT):
        with on_database.cold.started("worker") as process:
            line_with(process, "delivers webhooks")
            process.send_signal(number)
            assert process.wait(60) == 0


def test_it_waits_for_a_database_that_is_away(gatepass: Command) -> None:
    away = gatepass.having(
        GATEPASS_DATABASE_URL=f"postgresql://127.0.0.1:{free_port()}/x", GATEPASS_ENCRYPTION_KEYS=new_key()
    )
    with away.started("worker") as process:
        line_with(process, "delivers webhooks")
        process.terminate()
        assert process.wait(60) == 0


def test_without_a_key_for_secrets_it_does_not_start(gatepass: Command) -> None:
    told = gatepass.having(GATEPASS_ENCRYPTION_KEYS="")("worker")
    assert told.returncode == 2
    assert told.stderr.startswith("GATEPASS_ENCRYPTION_KEYS: ")


def test_private_addresses_are_warned_of_loudly(on_database: Command) -> None:
    private = on_database.having(GATEPASS_WEBHOOK_ALLOW_PRIVATE="1")
    with private.started("worker", stderr=subprocess.STDOUT) as process:
        assert "NEVER RUN A LIVE SERVICE LIKE THIS" in line_with(process, "PRIVATE")
        process.terminate()
        process.wait(60)


def test_a_port_for_metrics_that_is_taken_is_told_in_one_line(gatepass: Command) -> None:
    with socket.create_server(("127.0.0.1", 0)) as other:
        port = str(other.getsockname()[1])
        told = gatepass.having(GATEPASS_WORKER_METRICS_PORT=port, GATEPASS_ENCRYPTION_KEYS=new_key())("worker")
    assert told.returncode == 1
    assert told.stderr.startswith(f"GATEPASS_WORKER_METRICS_PORT: port {port} is taken.")


def wait_for_readiness(port: int, status: int) -> None:
    deadline = time.monotonic() + 60
    while (found := status_of(f"http://127.0.0.1:{port}/readyz")) != status:
        assert time.monotonic() < deadline, f"/readyz says {found}"
        time.sleep(0.05)


def test_it_is_ready_when_it_has_looked_into_its_queue(on_database: Command) -> None:
    port = free_port()
    with on_database.having(GATEPASS_WORKER_METRICS_PORT=str(port)).started("worker"):
        wait_for_readiness(port, 200)


def test_without_a_database_it_is_not_ready(gatepass: Command) -> None:
    port = free_port()
    away = gatepass.having(
        GATEPASS_DATABASE_URL=f"postgresql://127.0.0.1:{free_port()}/x",
        GATEPASS_ENCRYPTION_KEYS=new_key(),
        GATEPASS_WORKER_METRICS_PORT=str(port),
    )
    with away.started("worker"):
        wait_for_readiness(port, 503)


def test_while_its_clock_is_wrong_it_is_not_ready(on_database: Command) -> None:
    port = free_port()
    wrong = on_database.cold.having(GATEPASS_WORKER_METRICS_PORT=str(port), **off_by("+1d"))
    with wrong.started("worker", stderr=subprocess.STDOUT) as process:
        line_with(process, "jobs wait: the clocks differ")
        told = ""
        deadline = time.monotonic() + 60
        while "clock" not in told:
            assert time.monotonic() < deadline, told
            status, told = page_of(f"http://127.0.0.1:{port}/readyz")
            assert status == 503
            time.sleep(0.05)
    assert json.loads(told)["reason"].startswith("The clock of this machine is 86")


def test_metrics_tell_of_deliveries(on_database: Command) -> None:
    port = free_port()
    with on_database.having(GATEPASS_WORKER_METRICS_PORT=str(port)).started("worker") as process:
        line_with(process, "delivers webhooks")
        deadline = time.monotonic() + 60
        text = ""
        while "gatepass_webhook_delivered_seconds_count" not in text and time.monotonic() < deadline:
            try:
                with urlopen(f"http://127.0.0.1:{port}/metrics") as answer:
                    text = answer.read().decode()
            except OSError:
                time.sleep(0.05)
        for name in ("webhook_delivered_seconds_count", "webhook_claims_lapsed_total"):
            assert f"gatepass_{name}" in text
        process.terminate()
        assert process.wait(60) == 0
