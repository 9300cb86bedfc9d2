"""The lab restarts what ended as quickly as systemd does with the units of deploy/, and not more quickly."""

import re
from pathlib import Path

import pytest

from tests.ha.lab.cluster import REFERENCE
from tests.ha.lab.daemon import RESTARTS_AFTER

UNITS = [
    *(path for path in sorted((REFERENCE / "systemd").rglob("*.*")) if path.is_file()),
    *(REFERENCE.parent / "systemd" / f"gatepass-{name}@.service" for name in ("api", "worker")),
]


@pytest.mark.parametrize("path", UNITS, ids=lambda path: path.name if path.suffix == ".service" else path.parent.name)
def test_a_unit_restarts_as_the_lab_does(path: Path) -> None:
    (milliseconds,) = re.findall(r"^RestartSec=(\d+)ms$", path.read_text(), re.MULTILINE)
    assert int(milliseconds) / 1000 == RESTARTS_AFTER
    assert "Restart=always" in path.read_text()


def test_all_units_are_there() -> None:
    assert len(UNITS) == 6
