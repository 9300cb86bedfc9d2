"""The systemd units, read as systemd reads them: drop-ins applied, %i replaced. Only the syntax that we use."""

import shlex
from collections import defaultdict
from dataclasses import dataclass, field
from pathlib import Path

from tests.deploy.compose_file import DEPLOY

SYSTEMD = DEPLOY / "systemd"
NAMES = sorted(path.name for path in SYSTEMD.glob("*.service"))


@dataclass
class Unit:
    """`values` has every value of a key, in order, those of drop-ins last."""

    name: str
    values: dict[str, list[str]] = field(default_factory=lambda: defaultdict[str, list[str]](list))

    def one(self, key: str) -> str:
        [value] = self.values[key]
        return value

    @property
    def command(self) -> list[str]:
        return shlex.split(self.one("ExecStart"))

    @property
    def environment(self) -> dict[str, str]:
        return dict(pair.split("=", 1) for line in self.values["Environment"] for pair in shlex.split(line))


def read(name: str, instance: str = "1") -> Unit:
    """`gatepass-api@.service` as `gatepass-api@1.service`."""
    unit = Unit(name.replace("@.", f"@{instance}."))
    dropped_in = sorted((SYSTEMD / "gatepass-.service.d").glob("*.conf"))
    for path in (SYSTEMD / name, *dropped_in):
        _read(path, unit, instance)
    return unit


def _read(path: Path, unit: Unit, instance: str) -> None:
    for line in path.read_text().splitlines():
        if line and line[0] not in "#[":
            key, value = line.split("=", 1)
            unit.values[key].append(value.replace("%i", instance))
