"""A server with the page of the camera's tests, the scripts built from the source, and the policies of the scanner."""

import subprocess
from collections.abc import Generator
from contextlib import contextmanager, suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread
from typing import Final

from gatepass.gate.assets import WORKER_POLICY
from gatepass.gate.middleware import CONTENT_SECURITY_POLICY, HEADERS

HERE: Final = Path(__file__).parent
ROOT: Final = Path(__file__).parents[4]
SOURCE: Final = ROOT / "gatepass/gate/source"
WASM: Final = ROOT / "gatepass/gate/static/zxing/zxing_reader.wasm"
ESBUILD: Final = ROOT / "tools/node_modules/.bin/esbuild"
PAGE: Final = b"""<!doctype html><html lang="en"><title>Camera</title>
<video></video><script type="module" src="page.js"></script>"""
TYPES: Final = {".js": "text/javascript", ".wasm": "application/wasm", ".jpg": "image/jpeg"}
# A decoder that never answers, as one that a phone has stopped.
DEAD: Final = b"onmessage = () => {};"


class Site:
    """`frames` are the pictures of fake_camera.js. A worker asked for with `?dead` is dead the first time."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.frames: list[bytes] = []
        self.is_dead = True
        self.origin = ""

    def answer(self, path: str, query: str) -> tuple[bytes, str, str] | None:
        """Content, type and policy."""
        name = path.rpartition("/")[2]
        media_type = TYPES.get(Path(name).suffix, "text/html")
        if path == "/":
            return PAGE, media_type, CONTENT_SECURITY_POLICY
        if name == "decoder.worker.js":
            return self._worker(query), media_type, _worker_policy(query)
        if path.startswith("/frames/"):
            return self.frames[int(Path(name).stem)], media_type, CONTENT_SECURITY_POLICY
        file = {"page.js": self.folder / name, "fake_camera.js": HERE / name, WASM.name: WASM}.get(name)
        return None if file is None else (file.read_bytes(), media_type, CONTENT_SECURITY_POLICY)

    def _worker(self, query: str) -> bytes:
        if query == "dead" and self.is_dead:
            self.is_dead = False
            return DEAD
        return (self.folder / "decoder.worker.js").read_bytes()


def _worker_policy(query: str) -> str:
    """With `?plain` without leave for WebAssembly, as an old browser is without it."""
    return WORKER_POLICY.replace(" 'wasm-unsafe-eval'", "") if query == "plain" else WORKER_POLICY


def build(folder: Path) -> None:
    """The page and the worker, from the source."""
    subprocess.run(
        [
            *(ESBUILD, HERE / "page.ts", SOURCE / "camera/decoder.worker.ts"),
            *("--bundle", "--format=esm", "--target=es2022", "--log-level=warning", "--entry-names=[name]"),
            *(f"--tsconfig={SOURCE / 'tsconfig.json'}", f"--outdir={folder}"),
        ],
        check=True,
    )


@contextmanager
def serving(folder: Path) -> Generator[Site]:
    """At `localhost`, which browsers trust with a camera without TLS."""
    site = Site(folder)
    server = ThreadingHTTPServer(("127.0.0.1", 0), _handler(site))
    site.origin = f"http://localhost:{server.server_port}"
    thread = Thread(target=server.serve_forever)
    thread.start()
    try:
        yield site
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


def _handler(site: Site) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            path, _, query = self.path.partition("?")
            found = site.answer(path, query)
            if found is None:
                self.send_error(404)
                return
            content, media_type, policy = found
            self.send_response(200)
            self.send_header("Content-Type", media_type)
            self.send_header("Content-Length", str(len(content)))
            self.send_header("Content-Security-Policy", policy)
            self.send_header("Permissions-Policy", HEADERS["Permissions-Policy"])
            self.end_headers()
            # A browser that is closed takes no more.
            with suppress(ConnectionError):
                self.wfile.write(content)

        def log_message(self, format: str, *args: object) -> None:
            """Not into the output of the tests."""

    return Handler
