"""No two modules of the SDK import each other, directly or through others, not even for types."""

from pathlib import Path

import pytest

from tests.layout.import_graph import circles, import_graph
from tests.markdown_page import ROOT


def test_the_sdk_has_no_import_circle() -> None:
    assert circles(ROOT / "sdk", "gatepass_sdk") == []


def test_the_graph_has_every_kind_of_import() -> None:
    graph = import_graph(ROOT / "sdk", "gatepass_sdk")
    # At the top, under TYPE_CHECKING, inside a function, of a module from its package.
    assert "gatepass_sdk.testing._state" in graph["gatepass_sdk.testing._router"]
    assert "gatepass_sdk._async.exchange" in graph["gatepass_sdk._async.pages"]
    assert "gatepass_sdk.cli.main" in graph["gatepass_sdk.cli"]
    assert "gatepass_sdk._ed25519" in graph["gatepass_sdk.tokens"]


@pytest.mark.parametrize(
    "line",
    [
        "from made_up.sub.first import thing",
        "from made_up.sub import first",
        "import made_up.sub.first",
        "import made_up.sub.first as other",
        "from .sub import first",
        "from .sub.first import thing",
        "from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    from made_up.sub.first import thing",
        "def late() -> None:\n    from made_up.sub.first import thing",
        "class Late:\n    async def late(self) -> None:\n        from made_up.sub import first",
    ],
)
def test_a_circle_is_found_however_it_is_written(tmp_path: Path, line: str) -> None:
    write(tmp_path, {"sub/first.py": "from ..second import thing", "second.py": "import made_up.third"})
    assert circles(tmp_path, "made_up") == []
    write(tmp_path, {"third.py": line})
    assert circles(tmp_path, "made_up") == [["made_up.second", "made_up.sub.first", "made_up.third"]]


def test_two_circles_are_told_apart(tmp_path: Path) -> None:
    pairs = {"a": "b", "b": "a", "c": "d", "d": "c", "e": "a"}
    write(tmp_path, {f"{module}.py": f"from made_up.{other} import thing" for module, other in pairs.items()})
    assert circles(tmp_path, "made_up") == [["made_up.a", "made_up.b"], ["made_up.c", "made_up.d"]]


def test_a_package_may_export_what_its_modules_define(tmp_path: Path) -> None:
    write(tmp_path, {"__init__.py": "from made_up.first import thing", "first.py": "from made_up import second"})
    assert circles(tmp_path, "made_up") == []
    write(tmp_path, {"first.py": "from made_up import thing"})
    assert circles(tmp_path, "made_up") == [["made_up", "made_up.first"]]


def write(folder: Path, files: dict[str, str]) -> None:
    """Write these files of the package `made_up`. Files that others import are there from the start, empty."""
    empty = ["__init__.py", "sub/__init__.py", "second.py", "third.py"]
    for name in [*empty, *files]:
        path = folder / "made_up" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(files.get(name, path.read_text() if path.exists() else ""))
