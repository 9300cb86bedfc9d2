"""deploy/edge: HAProxy accepts it, and the map, the backends and our own patterns agree."""

import re
import subprocess
from pathlib import Path

import trustme

from gatepass.base.wire_constants import LIVE_KEY_PREFIX, SANDBOX_KEY_PREFIX
from gatepass.domain.keys.key import CHECK_CHARACTERS, RANDOM_CHARACTERS, InvalidKey
from tests.deploy.compose_file import DEPLOY

EDGE = DEPLOY / "edge"
CONFIG = (EDGE / "haproxy.cfg").read_text()
CELLS = dict(
    line.split() for line in (EDGE / "cells.map").read_text().splitlines() if line and not line.startswith("#")
)


def backend(name: str) -> str:
    found = re.search(rf"^backend {re.escape(name)} from \w+\n((?:    .*\n)+)", CONFIG, re.MULTILINE)
    assert found, name
    return found[1]


def test_haproxy_accepts_it(tmp_path: Path) -> None:
    certificate = tmp_path / "gatepass.pem"
    trustme.CA().issue_cert("gatepass.example").private_key_and_cert_chain_pem.write_to_path(certificate)
    config = CONFIG.replace("/etc/haproxy/cells.map", str(EDGE / "cells.map"))
    config = config.replace("/etc/haproxy/gatepass.pem", str(certificate))
    (tmp_path / "haproxy.cfg").write_text(config)
    checked = subprocess.run(
        ["/usr/sbin/haproxy", "-c", "-dW", "-f", str(tmp_path / "haproxy.cfg")],
        check=False, capture_output=True, text=True,
    )  # fmt: skip
    assert checked.returncode == 0, checked.stderr


def test_every_cell_has_its_backends_and_takes_processes_of_its_own_only() -> None:
    assert len(CELLS) == len(set(CELLS.values())) == 2
    for letter, host in CELLS.items():
        for name in (f"api:{host}", f"studio:{host}", f"cards:{host}"):
            assert f'http-check expect string \'{{"status":"ok","cell":"{letter}"}}\'' in backend(name)
            assert " check\n" in backend(name)
            assert "be_conn gt" in backend(name)
        assert f"track api:{host}/one" in backend("any")


def test_the_bounds_of_all_cells_fit_into_the_edge() -> None:
    (most,) = map(int, re.findall(r"^    maxconn (\d+)$", CONFIG, re.MULTILINE))
    held = sum(int(bound) for bound in re.findall(r"be_conn gt (\d+)", CONFIG)) // len(CELLS)
    assert held == 10_000
    assert held * 10 <= most / 2


def test_the_edge_knows_the_shape_of_a_key() -> None:
    assert {LIVE_KEY_PREFIX, SANDBOX_KEY_PREFIX} == {"svc_live_", "svc_test_"}
    assert f"svc_(live|test)_[a-z][0-9A-Za-z]{{{RANDOM_CHARACTERS + CHECK_CHARACTERS}}}$" in CONFIG
    assert f"bytes({len('Bearer ') + len(LIVE_KEY_PREFIX)},1)" in CONFIG
    assert f'{{"error":"{InvalidKey.sentence()}","code":"{InvalidKey.code}"}}' in CONFIG
