"""A real HAProxy, as an operator has one in front of Gatepass."""

import re
import shutil
import subprocess
from dataclasses import dataclass
from pathlib import Path

from tests.postgres import free_port
from tests.processes import wait_until_listening

WITHIN = 10.0

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
    """`deploy/haproxy.cfg`, without its certificate, and with our ports."""
    config = (Path(__file__).parents[2] / "deploy" / "haproxy.cfg").read_text()
    config = re.sub(r"bind :443 .*", "bind 127.0.0.1:PORT", config)
    return re.sub(r"127\.0\.0\.1:800[01]\b.*", "127.0.0.1:UPSTREAM", config)


@dataclass
class Proxy:
    process: subprocess.Popen[bytes]
    port: int

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    def stop(self) -> None:
        self.process.terminate()
        self.process.wait(WITHIN)


def start_proxy(folder: Path, upstream: int, config: str = AS_REVIEWED) -> Proxy:
    """HAProxy on a free port, in front of this port."""
    program = shutil.which("haproxy") or "/usr/sbin/haproxy"
    port = free_port()
    file = folder / "haproxy.cfg"
    file.write_text(config.replace("PORT", str(port)).replace("UPSTREAM", str(upstream)))
    process = subprocess.Popen([program, "-db", "-f", str(file)], stdout=subprocess.DEVNULL, stderr=subprocess.STDOUT)
    wait_until_listening(process, port)
    return Proxy(process, port)
