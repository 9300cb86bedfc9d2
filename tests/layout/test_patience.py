"""What a test waits for is the patience of the tests, not production's, on a machine that many tests share.

`factory.settings`, `factory.database` and `factory.environment` have it. If your test is about a deadline or about
overload, pass its own to them; if it is about production's, name its file here and say why.
"""

import ast
from collections.abc import Iterator

import pytest

from tests.layout.tree import ROOT, modules

URL, DEADLINE = "GATEPASS_DATABASE_URL", "GATEPASS_DATABASE_DEADLINE"
OWN = {
    "tests/base": "the database itself is tested",
    "tests/cli/test_running_dev.py": "there is no database",
    "tests/api/test_tracing.py": "there is no database",
    "tests/deploy": "what an operator runs, as it is",
    "tests/attacks/supply_chain/test_database_tls.py": "a connection that is refused at once",
    "tests/drills": "versions before this one too, as operators run them",
    "tests/edge/cells.py": "the edge waits a little longer than a cell in production does",
    "tests/faults/test_pgbouncer.py": "a pooler without a free connection has to be noticed",
    "tests/faults/webhooks": "a worker that is cut off has to notice it as in production",
    "tests/fuzz": "no call may hang, however it is spelled",
    "tests/ha": "how long a failover is felt is what is tested",
}
EXAMPLES = [
    ("Database(url)", True),
    ("Settings(database_url=url)", True),
    ("Settings(max_connections=16)", False),
    ("factory.database(url)", False),
    (f"{{'{URL}': url}}", True),
    (f"{{**settings_env, '{URL}': url}}", False),
    (f"{{'{URL}': url, '{DEADLINE}': '1'}}", False),
]
IMPORTS = "from gatepass.base.database import Database\nfrom gatepass.base.settings import Settings\n"


def impatient(module: ast.Module) -> Iterator[int]:
    """The lines in which a database is reached with the patience of production."""
    ours = {
        alias.asname or alias.name
        for node in module.body
        if isinstance(node, ast.ImportFrom) and node.module in ("gatepass.base.database", "gatepass.base.settings")
        for alias in node.names
    }
    for node in ast.walk(module):
        match node:
            case ast.Call(func=ast.Name("Database")) if "Database" in ours:
                yield node.lineno
            case ast.Call(func=ast.Name("Settings"), keywords=given) if "Settings" in ours:
                if "database_url" in {one.arg for one in given}:
                    yield node.lineno
            case ast.Dict(keys=keys):
                names = {key.value if isinstance(key, ast.Constant) else key for key in keys}
                if URL in names and not names & {None, DEADLINE}:
                    yield node.lineno
            case _:
                pass


@pytest.mark.parametrize(("line", "expected"), EXAMPLES)
def test_impatience_is_seen(line: str, expected: bool) -> None:
    assert bool([*impatient(ast.parse(IMPORTS + line))]) is expected


def test_no_test_has_the_patience_of_production() -> None:
    paths = [path for path in modules() if path.parts[0] == "tests" and str(path) != "tests/factory.py"]
    texts = {str(path): (ROOT / path).read_text() for path in paths}
    # Most files name none of them, and parsing is what costs here.
    named = {
        path: text for path, text in texts.items() if any(word in text for word in ("Database(", "Settings(", URL))
    }
    found = {path: [*impatient(ast.parse(text))] for path, text in named.items()}
    bare = {path: lines for path, lines in found.items() if lines}
    assert {path: lines for path, lines in bare.items() if not path.startswith(tuple(OWN))} == {}
    assert [one for one in OWN if not any(path.startswith(one) for path in bare)] == [], "no longer needed"
