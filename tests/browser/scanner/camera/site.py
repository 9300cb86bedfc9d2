"""A server with the page of the camera's tests, the scripts built from the source, and the policies of the scanner."""

import subprocess
from collections.abc import Generator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread
from typing import Final

from tests.browser.scanner.camera.policies import PAGE_POLICY, WORKER_POLICY

ROOT: Final = Path(__file__).parents[4]
CAMERA: Final = ROOT / "gatepass/gate/source/camera"
STATIC: Final = ROOT / "gatepass/gate/static"
ESBUILD: Final = ROOT / "tools/node_modules/.bin/esbuild"
PAGE: Final = b'<!doctype html><html lang="en"><title>Camera</title><video></video><script type="module" src="page.js"></script>'
TYPES: Final = {".js": "text/javascript", ".wasm": "application/wasm", ".html": "text/html"}


def build(folder: Path) -> None:
    """The page and the worker, from the source."""
    entries = [Path(__file__).parent / "page.ts", CAMERA / "decoder.worker.ts"]
    options = ["--bundle", "--format=esm", "--target=es2022", "--log-level=warning", "--entry-names=[name]"]
    subprocess.run(
        [ESBUILD, *entries, *options, f"--outdir={folder}"],
        env={"NODE_PATH": str(ROOT / "tools/node_modules")},
        cwd=ROOT,
        check=True,
    )


@contextmanager
def site(folder: Path) -> Generator[str]:
    """Serves until the end of the block; gives the origin, which browsers trust with a camera because it is `localhost`."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), _handler(folder))
    thread = Thread(target=server.serve_forever)
    thread.start()
    try:
        yield f"http://localhost:{server.server_port}"
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


def _handler(folder: Path) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            path = self.path.partition("?")[0]
            if path == "/zxing/zxing_reader.wasm":
                self._send(STATIC / "zxing/zxing_reader.wasm")
            elif path in {"/page.js", "/decoder.worker.js"}:
                self._send(folder / path[1:])
            elif path == "/":
                self._answer(PAGE, "text/html", PAGE_POLICY)
            else:
                self.send_error(404)

        def _send(self, file: Path) -> None:
            policy = WORKER_POLICY if file.name.endswith(".worker.js") else "default-src 'none'"
            # A policy without leave for WebAssembly, as an old browser is without it.
            if "plain" in self.path:
                policy = policy.replace(" 'wasm-unsafe-eval'", "")
            self._answer(file.read_bytes(), TYPES[file.suffix], policy)

        def _answer(self, content: bytes, media_type: str, policy: str) -> None:
            self.send_response(200)
            self.send_header("Content-Type", media_type)
            self.send_header("Content-Length", str(len(content)))
            self.send_header("Content-Security-Policy", policy)
            self.send_header("Permissions-Policy", "camera=(self)")
            self.end_headers()
            self.wfile.write(content)

        def log_message(self, format: str, *args: object) -> None:
            """Not into the output of the tests."""

    return Handler
