"""The edge: HAProxy with `deploy/edge/haproxy.cfg`, in front of cells on this machine."""

import re
import shutil
import subprocess
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from tests.processes import wait_until_listening

EDGE = Path(__file__).parents[2] / "deploy" / "edge"
WITHIN = 60.0
# The machines of deploy/edge/haproxy.cfg are 10.0.<cell>.<machine>.
CELLS = {"1": "a", "2": "b"}


@dataclass
class Edge:
    process: subprocess.Popen[bytes]
    port: int
    log: Path

    @property
    def url(self) -> str:
        """At a host of no cell."""
        return f"http://127.0.0.1:{self.port}"

    def host(self, cell: str) -> str:
        """The cell's own host. Browsers find `*.localhost` on this machine."""
        return f"{cell}.localhost:{self.port}"

    def url_of(self, cell: str) -> str:
        return f"http://{self.host(cell)}"

    def stop(self) -> None:
        self.process.terminate()
        self.process.wait(WITHIN)


def start_edge(folder: Path, port: int, cells: Mapping[str, Sequence[int]], **changes: str) -> Edge:
    """The edge on this port, in front of the ports of each cell's processes. `changes` replace parts of the file."""
    program = shutil.which("haproxy") or "/usr/sbin/haproxy"
    file = folder / "haproxy.cfg"
    file.write_text(_here(folder, port, cells, changes))
    log = folder / "haproxy.log"
    with log.open("ab") as out:
        process = subprocess.Popen([program, "-db", "-f", str(file)], stdout=out, stderr=out)
    wait_until_listening(process, port, log)
    return Edge(process, port, log)


def _here(folder: Path, port: int, cells: Mapping[str, Sequence[int]], changes: Mapping[str, str]) -> str:
    """The configuration with our ports and hosts, without its certificate."""

    def server(found: re.Match[str]) -> str:
        ports = cells[CELLS[found[1]]]
        return f"127.0.0.1:{ports[(int(found[2]) - 1) % len(ports)]}"

    letters = folder / "cells.map"
    letters.write_text((EDGE / "cells.map").read_text().replace("gatepass.example", "localhost"))
    config = (EDGE / "haproxy.cfg").read_text()
    for one, other in {
        "maxconn 200000": "maxconn 9000",
        "log /dev/log local0 info": "log stdout format raw daemon",
        "/etc/haproxy/cells.map": str(letters),
        "gatepass.example": "localhost",
        "https://%[var(txn.cell)]": f"http://%[var(txn.cell)]:{port}",
        **changes,
    }.items():
        assert one in config, one
        config = config.replace(one, other)
    config = re.sub(r"bind :443 .*", f"bind 127.0.0.1:{port}", config)
    return re.sub(r"10\.0\.([12])\.([12]):8[012]01", server, config)
