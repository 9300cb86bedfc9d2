"""compose.yaml, read as Compose reads it: variables filled in, anchors merged, durations in seconds."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from graphlib import TopologicalSorter
from pathlib import Path
from signal import Signals
from typing import Any

import yaml

DEPLOY = Path(__file__).parents[2] / "deploy"
COMPOSE = DEPLOY / "compose.yaml"
# Compose's own defaults.
GRACE = "10s"
INTERVAL = "30s"


@dataclass(frozen=True)
class Check:
    command: list[str]
    timeout: float
    # Seconds within which a container that was just started must be healthy.
    patience: float


@dataclass(frozen=True)
class Service:
    name: str
    image: str
    command: list[str]
    environment: dict[str, str]
    depends_on: dict[str, str]
    check: Check | None
    stop_signal: Signals | None
    grace: float


def read(variables: Mapping[str, str]) -> dict[str, Service]:
    """Every service by its name, in an order in which they can start. `variables` are those of the .env file."""
    document = _filled(yaml.safe_load(COMPOSE.read_text()), variables)
    services = {name: _service(name, raw, variables) for name, raw in document["services"].items()}
    order = TopologicalSorter({name: one.depends_on.keys() for name, one in services.items()}).static_order()
    return {name: services[name] for name in order}


def raw() -> dict[str, Any]:
    """The file as it is written, with its anchors merged."""
    return yaml.safe_load(COMPOSE.read_text())


def variables_of(path: Path) -> dict[str, str]:
    """The lines of an env file."""
    lines = [line for line in path.read_text().splitlines() if line and not line.startswith("#")]
    return dict(line.split("=", 1) for line in lines)


def seconds(duration: str) -> float:
    units = {"ms": 0.001, "s": 1, "m": 60, "h": 3600}
    assert re.fullmatch(r"([0-9]+(ms|s|m|h))+", duration), duration
    return sum(int(number) * units[unit] for number, unit in re.findall(r"([0-9]+)(ms|s|m|h)", duration))


def _service(name: str, raw: dict[str, Any], variables: Mapping[str, str]) -> Service:
    assert raw.get("env_file", ".env") == ".env"
    from_file = dict(variables) if "env_file" in raw else {}
    return Service(
        name=name,
        image=raw["image"],
        command=raw.get("command", []),
        environment={**from_file, **raw.get("environment", {})},
        depends_on={other: how["condition"] for other, how in raw.get("depends_on", {}).items()},
        check=_check(raw.get("healthcheck", {})),
        stop_signal=Signals[raw["stop_signal"]] if "stop_signal" in raw else None,
        grace=seconds(raw.get("stop_grace_period", GRACE)),
    )


def _check(raw: dict[str, Any]) -> Check | None:
    if "test" not in raw:
        return None
    kind, *command = raw["test"]
    assert kind == "CMD"
    patience = seconds(raw.get("start_period", "0s")) + raw["retries"] * seconds(raw.get("interval", INTERVAL))
    return Check(command, seconds(raw["timeout"]), patience)


def _filled(value: Any, variables: Mapping[str, str]) -> Any:
    """Replace ${NAME:?why} and ${NAME}. A variable that is missing or empty is refused, as Compose does with :?"""
    match value:
        case dict():
            return {name: _filled(one, variables) for name, one in value.items()}
        case list():
            return [_filled(one, variables) for one in value]
        case str():
            return re.sub(r"\$\{(\w+)(?::\?[^}]*)?\}", lambda found: _value(found[1], variables), value)
        case _:
            return value


def _value(name: str, variables: Mapping[str, str]) -> str:
    assert variables.get(name), f"{name} is not set"
    return variables[name]
