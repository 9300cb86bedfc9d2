"""`make test` starts no process of ours: a test that starts one, or asks for a server, has the marker `processes`."""

import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

MARKER = "processes"
# Fixtures that start a process for the whole session: only the first test that asks would be seen to start one.
SERVERS = {"server"}
# The folders of `make test`. Those of others may start what they like.
IN_PROCESS = ("api", "base", "card_page", "contract", "domain", "examples", "layout", "studio")

_running: list[pytest.Item] = []


def may_start(item: pytest.Item) -> bool:
    place = item.path.relative_to(Path(__file__).parent)
    return place.parts[0] not in IN_PROCESS or item.get_closest_marker(MARKER) is not None


def unmarked(items: Sequence[pytest.Item]) -> list[str]:
    """Those that ask for a server and do not say so."""
    return [
        item.nodeid
        for item in items
        if isinstance(item, pytest.Function) and _asks_for_a_server(item) and not may_start(item)
    ]


def _asks_for_a_server(item: pytest.Function) -> bool:
    """A parameter of the same name is no fixture."""
    parameters = item.callspec.params if hasattr(item, "callspec") else {}
    return bool(SERVERS & set(item.fixturenames) - set(parameters))


def watch(item: pytest.Item | None) -> None:
    """From now on, what is started is started by this test."""
    _running[:] = [item] if item else []


def _refuse(event: str, arguments: tuple[Any, ...]) -> None:
    if event == "subprocess.Popen" and _running and _is_ours(arguments[0], arguments[1]) and not may_start(_running[0]):
        pytest.fail(f"{_running[0].nodeid} starts a process: give it the marker {MARKER!r}")


def _is_ours(executable: object, arguments: Sequence[object]) -> bool:
    """An interpreter or a command of ours; a program such as git or openssl costs a hundredth of that."""
    program = Path(str(executable or arguments[0])).name
    return program.startswith(("python", "gatepass", "node", "make"))


sys.addaudithook(_refuse)
