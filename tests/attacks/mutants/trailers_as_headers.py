"""`gatepass` as uvicorn has it: a trailer is added to the headers of its request. The attacks must find it out."""

import os
import subprocess
import sys

from gatepass.cli.main import run
from gatepass.server.http_protocol import HEAD, HttpProtocol
from tests.processes import GatepassProcess, wait_until_ready


def serve_mutant(environment: dict[str, str], port: int) -> GatepassProcess:
    """`gatepass serve` of this mutant."""
    process = subprocess.Popen(
        [sys.executable, "-m", __name__, "serve", "--port", str(port)],
        env={**os.environ, "GATEPASS_PUBLIC_URL": f"http://127.0.0.1:{port}", **environment},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )
    server = GatepassProcess(process, port)
    wait_until_ready(server)
    return server


strict = HttpProtocol.on_header


def on_header(self: HttpProtocol, name: bytes, value: bytes) -> None:
    if self._part == HEAD:
        strict(self, name, value)
    else:
        self.headers.append((name.lower(), value))


if __name__ == "__main__":
    HttpProtocol.on_header = on_header
    run()
