"""The units: accepted and rated safe by systemd's own tools, and run here as systemd would run them."""

import shutil
import socket
import subprocess
import time
from pathlib import Path
from signal import SIGTERM

import pytest

from tests.deploy import systemd_units
from tests.deploy.systemd_runner import SystemdRunner
from tests.deploy.systemd_units import NAMES, SYSTEMD
from tests.processes import status_of

# systemd's own scale, from 0 to 100. Most units that Debian installs are above 50.
EXPOSURE = 15
ANALYZE = shutil.which("systemd-analyze")
INSTANCES = [name.replace("@.", "@1.") for name in NAMES]
WITHIN = 60

needs_systemd = pytest.mark.skipif(ANALYZE is None, reason="needs systemd-analyze (Debian: apt install systemd)")


@pytest.fixture(scope="module")
def root(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A root with our units beside Debian's, and a program at the path that they name."""
    made = tmp_path_factory.mktemp("root")
    shutil.copytree("/lib/systemd/system", made / "usr/lib/systemd/system", symlinks=True)
    shutil.copytree(SYSTEMD, made / "etc/systemd/system")
    program = made / "opt/gatepass/bin/gatepass"
    program.parent.mkdir(parents=True)
    shutil.copy("/bin/true", program)
    return made


def analyze(root: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    command = [str(ANALYZE), f"--root={root}", "--no-pager", *arguments]
    return subprocess.run(command, check=False, capture_output=True, text=True, timeout=WITHIN)


@needs_systemd
def test_systemd_understands_every_line(root: Path) -> None:
    result = analyze(root, "verify", "--man=no", *INSTANCES)
    assert (result.returncode, result.stderr) == (0, "")


@needs_systemd
def test_systemd_names_a_line_that_it_does_not_understand(root: Path) -> None:
    text = (SYSTEMD / "gatepass-migrate.service").read_text()
    (root / "etc/systemd/system/gatepass-wrong.service").write_text(text.replace("RestartSec", "RestartSecs"))
    assert "RestartSecs" in analyze(root, "verify", "--man=no", "gatepass-wrong.service").stderr


@needs_systemd
@pytest.mark.parametrize("name", INSTANCES)
def test_systemd_rates_them_safe(root: Path, name: str) -> None:
    result = analyze(root, "security", "--offline=true", f"--threshold={EXPOSURE}", name)
    assert result.returncode == 0, result.stdout


def test_each_unit_becomes_ready_and_stops_cleanly(systemd: SystemdRunner, notify_socket: socket.socket) -> None:
    assert systemd.start(systemd_units.read("gatepass-migrate.service")).wait(WITHIN) == 0
    for name, port in (("api", "8001"), ("studio", "8101"), ("card-page", "8201"), ("worker", "9491")):
        unit = systemd_units.read(f"gatepass-{name}@.service")
        with systemd.start(unit) as process:
            try:
                assert notify_socket.recv(100) == b"READY=1"
                becomes_ready(systemd.url(port) + "/readyz")
                process.send_signal(SIGTERM)
                assert process.wait(float(unit.one("TimeoutStopSec"))) == 0
            finally:
                process.kill()


def becomes_ready(url: str) -> None:
    deadline = time.monotonic() + WITHIN
    while (found := status_of(url)) != 200:
        assert time.monotonic() < deadline, f"/readyz says {found}"
        time.sleep(0.05)
