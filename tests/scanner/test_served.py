"""Who serves the scanner: every process of the API, and one of its own, which needs no database."""

import httpx2
import pytest

from gatepass.server.combined_app import is_scanner
from tests.postgres import free_port
from tests.processes import wait_until_ready
from tests.warm.processes import launch, serve


@pytest.mark.parametrize(
    ("path", "expected"),
    [
        ("/gate", True),
        ("/gate/static/0/app.js", True),
        ("/gate/sw.js", True),
        ("/gate/app.webmanifest", True),
        ("/gate/pair/A7K29QXR3M", False),
        ("/gate/", False),
        ("/gates", False),
        ("/", False),
    ],
)
def test_its_paths_are_known(path: str, expected: bool) -> None:
    assert is_scanner(path) is expected


@pytest.mark.parametrize("options", [(), ("--only", "api")], ids=["all", "api"])
def test_a_process_of_the_api_serves_it_and_pairs(settings_env: dict[str, str], options: tuple[str, ...]) -> None:
    server = serve(settings_env, free_port(), *options)
    try:
        page = httpx2.get(f"{server.url}/gate")
        assert (page.status_code, "wasm-unsafe-eval" in page.headers["content-security-policy"]) == (200, True)
        asked = httpx2.post(f"{server.url}/gate/pair/A7K29QXR3M", json={})
        assert (asked.status_code, asked.headers["content-type"]) == (400, "application/json")
        unknown = httpx2.get(f"{server.url}/gate/nothing")
        assert (unknown.status_code, unknown.json()["code"]) == (404, "not_found")
    finally:
        assert server.stop() == 0


def test_a_process_of_its_own_needs_no_database(settings_env: dict[str, str]) -> None:
    metrics = free_port()
    environment = {
        **settings_env,
        "GATEPASS_DATABASE_URL": f"postgresql://nobody@127.0.0.1:{free_port()}/none",
        "GATEPASS_METRICS_PORT": str(metrics),
    }
    server = launch(environment, free_port(), "--only", "gate")
    try:
        wait_until_ready(server)
        assert httpx2.get(f"{server.url}/gate").status_code == 200
        assert httpx2.get(f"{server.url}/studio").status_code == 404
        assert httpx2.get(f"{server.url}/healthz").json()["status"] == "ok"
        assert "gatepass_ready 1.0" in httpx2.get(f"http://127.0.0.1:{metrics}/metrics").text
    finally:
        assert server.stop() == 0
