"""The SDK imports nothing of the service, and no other package than httpx2. A gate has an extra of its own."""

import ast
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.markdown_page import ROOT

PACKAGE = ROOT / "sdk" / "gatepass_sdk"
# The command line may use its extra.
FILES = [path for path in sorted(PACKAGE.rglob("*.py")) if PACKAGE / "cli" not in path.parents]
ALLOWED = sys.stdlib_module_names | {"gatepass_sdk", "httpx2"}
# It comes with httpx2; the fake compares domains by it.
WITH_DOMAINS = PACKAGE / "testing" / "_platform" / "addresses.py"
# Imported when a gate is opened, and by nothing else.
WITH_EXTRA = {PACKAGE / "_gate" / "storage" / "encryption.py", PACKAGE / "_gate" / "signing.py"}


@pytest.mark.parametrize("path", FILES, ids=[str(path.relative_to(PACKAGE)) for path in FILES])
def test_a_file_imports_the_standard_library_httpx2_and_its_own_package(path: Path) -> None:
    extra = {"cryptography"} if path in WITH_EXTRA else set[str]()
    extra |= {"idna"} if path == WITH_DOMAINS else set()
    assert set(imported(path.read_text())) <= ALLOWED | extra


def imported(code: str) -> Iterator[str]:
    for node in ast.walk(ast.parse(code)):
        if isinstance(node, ast.Import):
            yield from (name.name.split(".")[0] for name in node.names)
        elif isinstance(node, ast.ImportFrom):
            yield "relative" if node.level else str(node.module).split(".")[0]


def test_the_service_would_be_seen() -> None:
    assert set(imported("import gatepass.api\nfrom gatepass import base\nfrom . import x")) - ALLOWED == {
        "gatepass",
        "relative",
    }
