"""The package in Chromium: it reads every case as Node and the service do, and believes no network."""

import json
import threading
from collections.abc import Generator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any, Final

import pytest
from playwright.sync_api import Page, sync_playwright

from tests.browser.engines.programs import HEADLESS_SHELL, QUIET
from tests.sdk.javascript.node import Project, tool
from tools import code_cases, webhook_cases

TICKET: Final = {"data": {"ticket_id": "t", "tier": "vip", "category_name": "VIP"}}
BUSY: Final = {"error": "Busy.", "code": "overloaded"}
# What happens to the tries of a scan, one after the other. The last one is the service.
HARMS: Final[list[tuple[int, str, str]]] = [
    (302, "text/html", ""),
    (200, "text/html", "<h1>Sign in</h1>"),
    (200, "application/json", '{"data": {"ticket_id": "t"'),
    (200, "application/json", '{"data": {"portal": "sign in"}}'),
    (0, "", ""),
    (503, "application/json", json.dumps(BUSY)),
    (200, "application/json", json.dumps(TICKET)),
]

# Each case, with what the package says of it.
CASES: Final = """
async ({ codes, webhooks }) => {
  const sdk = await import("/sdk.js");
  const bytes = (hex) => Uint8Array.from(hex.match(/../g) ?? [], (pair) => parseInt(pair, 16));
  const keys = new sdk.CardKeys(codes.public_keys.map(bytes));
  const found = { codes: [], webhooks: [] };
  for (const one of codes.cases) {
    const { reason, card_number, phone } = await keys.verify(one.text, { at: new Date(one.at * 1000) });
    found.codes.push([reason, card_number, phone]);
  }
  for (const one of webhooks.cases) {
    const body = one.body ?? bytes(one.body_hex);
    try {
      await sdk.unwrap(body, one.headers, one.secret, { now: () => one.at });
      found.webhooks.push(null);
    } catch (error) {
      found.webhooks.push(error.message);
    }
  }
  return found;
}
"""
SCAN: Final = """
async () => {
  const { Gatepass, SANDBOX_EVENT_ID } = await import("/sdk.js");
  const base_url = `${location.origin}/api/public/v1`;
  const client = new Gatepass({ api_key: "svc_test_x", base_url, scan_deadline: 30 });
  const ticket = await client.scans.create(SANDBOX_EVENT_ID, { card_number: "TEST_VIP" });
  const gone = new Gatepass({ api_key: "svc_test_x", base_url: "http://127.0.0.1:9/api", max_retries: 0 });
  const lost = await gone.scans.create(SANDBOX_EVENT_ID, { card_number: "TEST_VIP" }).catch((error) => error);
  return { ticket, lost: [lost.name, lost.outcome_unknown, lost.idempotency_key.length] };
}
"""
WORDS: Final = {
    "no_signature": "no x-svc-signature",
    "no_match": "does not match",
    "too_old": "too old",
    "unreadable": "cannot be read",
}


@contextmanager
def harmful_server(sdk: bytes) -> Generator[tuple[str, list[dict[str, Any]]]]:
    """Serves a page and the package, and harms the scans that come from it."""
    asked: list[dict[str, Any]] = []

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_GET(self) -> None:
            is_sdk = self.path == "/sdk.js"
            self.say(200, "text/javascript" if is_sdk else "text/html", sdk if is_sdk else b"<!doctype html>")

        def do_POST(self) -> None:
            self.rfile.read(int(self.headers.get("content-length") or 0))
            asked.append({"path": self.path, **{name.lower(): value for name, value in self.headers.items()}})
            status, kind, body = HARMS[min(len(asked), len(HARMS)) - 1]
            if status:
                self.say(status, kind, body.encode())
            else:
                self.close_connection = True

        def say(self, status: int, kind: str, body: bytes) -> None:
            self.send_response(status)
            self.send_header("content-type", kind)
            self.send_header("content-length", str(len(body)))
            self.send_header("location", "/trap")
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, format: str, *args: Any) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}", asked
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


@pytest.fixture(scope="module")
def sdk(project: Project, tmp_path_factory: pytest.TempPathFactory) -> bytes:
    """What a page loads."""
    out = tmp_path_factory.mktemp("page") / "sdk.js"
    lines = ['export * from "@gatepass/sdk";', 'export { unwrap } from "@gatepass/sdk/webhooks";']
    (project.folder / "all.mjs").write_text("\n".join(lines))
    options = ["--bundle", "--minify", "--format=esm", "--platform=browser", f"--outfile={out}"]
    done = tool("esbuild", "all.mjs", *options, "--log-level=warning", cwd=project.folder)
    assert done.returncode == 0, done.stderr
    return out.read_bytes()


@contextmanager
def opened(url: str, profile: Path) -> Generator[Page]:
    with sync_playwright() as playwright:
        context = playwright.chromium.launch_persistent_context(profile, executable_path=HEADLESS_SHELL, args=QUIET)
        page = context.new_page()
        page.goto(url)
        yield page
        context.close()


def test_chromium_answers_every_case_and_believes_no_network(sdk: bytes, tmp_path: Path) -> None:
    codes, webhooks = (json.loads(file.read_text()) for file in (code_cases.FILE, webhook_cases.FILE))
    with harmful_server(sdk) as (url, asked), opened(url, tmp_path) as page:
        found = page.evaluate(CASES, {"codes": codes, "webhooks": webhooks})
        scanned = page.evaluate(SCAN)
    for case, said in zip(codes["cases"], found["codes"], strict=True):
        assert said == [case["reason"], case["card_number"], case["phone"]], case["name"]
    for case, said in zip(webhooks["cases"], found["webhooks"], strict=True):
        assert said is None if case["said"] is None else WORDS[case["said"]] in said, case["name"]
    assert scanned["ticket"]["tier"] == "vip"
    # A browser does not tell that nothing was sent.
    assert scanned["lost"] == ["APIConnectionError", True, 36]
    assert {one["path"] for one in asked} == {"/api/public/v1/scan"}
    assert len({one["idempotency-key"] for one in asked}) == 1
    assert len(asked) >= len(HARMS)
    assert {one["authorization"] for one in asked} == {"Bearer svc_test_x"}
    assert not any("cookie" in one or "referer" in one for one in asked)
