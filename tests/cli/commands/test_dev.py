"""`gatepass dev` in a folder of its own, with the PostgreSQL that it brings along."""

import json
import signal
import socket
import subprocess
import time
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from urllib.request import urlopen

import httpx2
import pytest

from gatepass.base.encryption import new_key
from tests.cli.command import Command, line_with
from tests.processes import READY_WITHIN, status_of

GONE_WITHIN = 60.0


@pytest.fixture(scope="module")
def at_home(tmp_path_factory: pytest.TempPathFactory) -> Command:
    return Command(tmp_path_factory.mktemp("dev"))


@pytest.fixture(scope="module")
def first(at_home: Command) -> str:
    told = at_home.cold("dev", "--check", "--port", "0")
    assert told.returncode == 0, told.stdout + told.stderr
    return told.stdout


def demo_of(command: Command) -> dict[str, Any]:
    return json.loads((command.folder / ".gatepass" / "demo.json").read_text())


def postgres_of(command: Command) -> int:
    return int((command.folder / ".gatepass" / "postgres" / "postmaster.pid").read_text().split()[0])


def is_gone(pid: int) -> bool:
    """Whether the process has ended; a zombie has."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] == "Z"
    except FileNotFoundError:
        return True


def wait_until_gone(pid: int) -> None:
    deadline = time.monotonic() + GONE_WITHIN
    while not is_gone(pid):
        assert time.monotonic() < deadline, f"process {pid} is still there"
        time.sleep(0.02)


def test_everything_starts_and_the_first_scan_is_answered(first: str) -> None:
    assert first.count("✓") == 4
    assert "✓ PostgreSQL 18." in first
    assert '200 {"data":' in first
    assert "/docs" in first
    assert "curl -X POST http://127.0.0.1:" in first
    assert '"card_number": "TEST_VALID"' in first


def test_secrets_are_for_their_owner_only(first: str, at_home: Command) -> None:
    home = at_home.folder / ".gatepass"
    modes = {name: (home / name).stat().st_mode & 0o777 for name in ("encryption_key", "demo.json", "dev.env")}
    assert set(modes.values()) == {0o600}, modes


def test_the_environment_file_names_url_and_sandbox_key(first: str, at_home: Command) -> None:
    demo = demo_of(at_home)
    assert (at_home.folder / ".gatepass" / "dev.env").read_text() == (
        f"export GATEPASS_BASE_URL={demo['base_url']}\nexport GATEPASS_API_KEY={demo['keys']['sandbox']}\n"
    )


def test_postgres_is_stopped_with_it(first: str, at_home: Command) -> None:
    assert not (at_home.folder / ".gatepass" / "postgres" / "postmaster.pid").exists()


def test_the_demo_is_kept_until_a_reset(first: str, at_home: Command) -> None:
    before = demo_of(at_home)
    assert at_home("dev", "--check", "--port", "0").returncode == 0
    kept = demo_of(at_home)
    assert kept["keys"] == before["keys"]
    assert kept["base_url"] != before["base_url"], "another port was free this time"
    assert at_home("dev", "--check", "--port", "0", "--reset").returncode == 0
    assert demo_of(at_home)["organization_id"] != before["organization_id"]


def test_sigterm_stops_it_and_its_postgres(first: str, at_home: Command) -> None:
    with at_home.started("dev", "--port", "0") as process:
        line_with(process, "Ctrl-C stops everything.")
        server = postgres_of(at_home)
        with urlopen(demo_of(at_home)["base_url"].replace("/api/public/v1", "/readyz")) as answer:
            assert answer.status == 200
        process.terminate()
        assert process.wait(60) == 0
    wait_until_gone(server)


def test_a_postgres_left_by_one_that_was_killed_is_used_and_then_stopped(first: str, at_home: Command) -> None:
    with at_home.started("dev", "--port", "0") as process:
        line_with(process, "Ctrl-C stops everything.")
        server = postgres_of(at_home)
        process.send_signal(signal.SIGKILL)
        process.wait(10)
    assert not is_gone(server)
    assert at_home("dev", "--check", "--port", "0").returncode == 0
    wait_until_gone(server)


def test_a_port_that_is_taken_is_told_before_anything_is_started(gatepass: Command) -> None:
    with socket.create_server(("127.0.0.1", 0)) as other:
        port = other.getsockname()[1]
        told = gatepass("dev", "--port", str(port))
    assert told.returncode == 1
    assert told.stderr.startswith(f"Port {port} is taken.")
    assert f"--port {port + 1}" in told.stderr
    assert not (gatepass.folder / ".gatepass").exists()


def test_a_database_that_is_named_is_used_instead(on_empty_database: Command) -> None:
    told = on_empty_database.having(GATEPASS_ENCRYPTION_KEYS=new_key())("dev", "--check", "--port", "0")
    assert told.returncode == 0, told.stdout + told.stderr
    made = {path.name for path in (on_empty_database.folder / ".gatepass").iterdir()}
    assert made == {"demo.json", "dev.env"}


def test_the_demo_is_made_again_in_a_database_that_does_not_have_it(
    on_empty_database: Command, first: str, at_home: Command
) -> None:
    home = on_empty_database.folder / ".gatepass"
    home.mkdir()
    (home / "demo.json").write_text(json.dumps(demo_of(at_home)))
    assert on_empty_database("dev", "--check", "--port", "0").returncode == 0
    assert demo_of(on_empty_database)["organization_id"] != demo_of(at_home)["organization_id"]


def test_with_reload_the_api_starts_in_a_process_of_its_own(first: str, at_home: Command) -> None:
    with at_home.started("dev", "--port", "0", "--reload") as process:
        line_with(process, "Ctrl-C stops everything.")
        server = postgres_of(at_home)
        wait_until_ready(demo_of(at_home)["base_url"].replace("/api/public/v1", "/readyz"))
        process.terminate()
        assert process.wait(60) == 0
    wait_until_gone(server)


def wait_until_ready(url: str) -> None:
    deadline = time.monotonic() + READY_WITHIN
    while (found := status_of(url)) != 200:
        assert time.monotonic() < deadline, f"/readyz says {found}"
        time.sleep(0.02)


def test_commands_find_it_and_ctrl_c_ends_it_without_a_traceback(first: str, at_home: Command) -> None:
    """A live page is open meanwhile: its stream has to end too."""
    below = at_home.folder / "below"
    below.mkdir(exist_ok=True)
    with at_home.started("dev", "--port", "0", stderr=subprocess.STDOUT) as process:
        link = line_with(process, "/studio/link/").split()[1]
        line_with(process, "Ctrl-C stops everything.")
        found = [Command(folder)("organization", "list") for folder in (at_home.folder, below)]
        assert [one.stderr for one in found] == [f"Using the gatepass dev that runs in {at_home.folder}.\n"] * 2
        assert all("Gatepass Demo" in one.stdout for one in found)
        assert at_home("doctor").returncode == 0
        made = at_home("person", "link", "you@localhost", "--keep-credentials")
        assert made.stdout.startswith(link.partition("/studio/")[0]), "its own address, with its port"
        with open_live_page(at_home, made.stdout.strip()):
            process.send_signal(signal.SIGINT)
            assert process.stdout is not None
            rest = process.stdout.read()
        assert process.wait(60) == 0
        assert [line for line in rest.splitlines() if "source=security" not in line] == []
    assert not running_file(at_home, process).exists()


def test_one_that_was_killed_is_not_found(first: str, at_home: Command) -> None:
    with at_home.started("dev", "--port", "0") as process:
        line_with(process, "Ctrl-C stops everything.")
        process.send_signal(signal.SIGKILL)
        process.wait(10)
    assert running_file(at_home, process).exists()
    nowhere = "postgresql://gatepass@127.0.0.1:1/nowhere"
    assert "Using" not in at_home.having(GATEPASS_DATABASE_URL=nowhere)("organization", "list").stderr
    assert not running_file(at_home, process).exists()
    assert at_home("dev", "--check", "--port", "0").returncode == 0, "and its PostgreSQL is stopped by the next"


def running_file(command: Command, process: subprocess.Popen[str]) -> Path:
    return command.folder / ".gatepass" / f"running-{process.pid}.json"


@contextmanager
def open_live_page(command: Command, link: str) -> Generator[None]:
    """The stream of the demo's event, signed in by the link."""
    origin, event = link.partition("/studio/")[0], demo_of(command)["events"]["published"]
    with httpx2.Client(base_url=origin, timeout=30, headers={"Sec-Fetch-Site": "same-origin"}) as client:
        cookie = client.post(link).headers["set-cookie"].partition(";")[0]
        home = client.get("/studio/live/home", headers={"Cookie": cookie}).headers["location"]
        stream = f"{home.removesuffix('/home')}/events/{event}/live/stream"
        with client.stream("GET", stream, headers={"Cookie": cookie}) as opened:
            assert opened.status_code == 200
            next(opened.iter_bytes())
            yield
