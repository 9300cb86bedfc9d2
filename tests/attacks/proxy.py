"""A real HAProxy, as an operator has one in front of Gatepass."""

import re
import shutil
import subprocess
import time
from dataclasses import dataclass
from pathlib import Path

from tests.postgres import free_port
from tests.processes import wait_until_listening

WITHIN = 60.0

# As an operator may have it who has not read docs/operate/install.md: what the caller sent stays, in a line of its own.
AS_REVIEWED = """
defaults
    mode http
    option forwardfor
    timeout connect 5s
    timeout client 30s
    timeout server 30s

frontend public
    bind 127.0.0.1:PORT
    default_backend gatepass

backend gatepass
    server one 127.0.0.1:UPSTREAM
"""


def as_documented() -> str:
    """`deploy/haproxy.cfg`, without its certificate, with our ports, and with a log that a test can read."""
    config = (Path(__file__).parents[2] / "deploy" / "haproxy.cfg").read_text()
    config = config.replace("log /dev/log local0 info", "log stdout format raw daemon")
    config = re.sub(r"bind :443 .*", "bind 127.0.0.1:PORT", config)
    return re.sub(r"127\.0\.0\.1:800[012]\b.*", "127.0.0.1:UPSTREAM", config)


@dataclass
class Proxy:
    process: subprocess.Popen[bytes]
    port: int
    log: Path

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    def stop(self) -> None:
        self.process.terminate()
        self.process.wait(WITHIN)


def log_until(log: Path, mark: str) -> str:
    """What HAProxy has logged, once that contains the path of a last request."""
    deadline = time.monotonic() + WITHIN
    while mark not in (written := log.read_text()):
        assert time.monotonic() < deadline, written
        time.sleep(0.02)
    return written


def start_proxy(folder: Path, upstream: int, config: str = AS_REVIEWED) -> Proxy:
    """HAProxy on a free port, in front of this port."""
    program = shutil.which("haproxy") or "/usr/sbin/haproxy"
    port = free_port()
    file = folder / "haproxy.cfg"
    file.write_text(config.replace("PORT", str(port)).replace("UPSTREAM", str(upstream)))
    log = folder / "haproxy.log"
    with log.open("ab") as out:
        process = subprocess.Popen([program, "-db", "-f", str(file)], stdout=out, stderr=out)
    wait_until_listening(process, port)
    return Proxy(process, port, log)
