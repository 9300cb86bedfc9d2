"""The SQL statements of the domain: constants of its modules, and the routines in its .sql files."""

import ast
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from typing import Any, Final

import pglast
import pglast.ast

import gatepass
from gatepass.migrations.sql import statements

sql: Any = pglast.ast

PACKAGE: Final = Path(gatepass.__file__).parent
DOMAIN: Final = PACKAGE / "domain"
EXEMPT: Final = re.compile(r"\s*-- every organization: \S")
LOOKS_LIKE_SQL: Final = re.compile(
    r"\s*(--[^\n]*\n\s*)*"
    r"(SELECT|INSERT|UPDATE|DELETE|MERGE|WITH|TABLE|VALUES|TRUNCATE|LOCK|COPY|ANALYZE|CREATE|ALTER|DROP|SET|DO|CALL)\s"
)


@dataclass(frozen=True)
class Statement:
    """`lines` are those on which its parts begin."""

    name: str
    text: str
    lines: frozenset[int] = frozenset()

    @property
    def is_exempt(self) -> bool:
        return EXEMPT.match(self.text) is not None


def constants(path: Path) -> list[Statement]:
    """The SQL in a module's constants; in dictionaries too."""
    module = str(path.relative_to(DOMAIN).with_suffix(""))
    return [
        replace(found, name=f"{module}.{found.name}") for found in _texts_in(path) if LOOKS_LIKE_SQL.match(found.text)
    ]


@cache
def _texts_in(path: Path) -> list[Statement]:
    """Read once for a file: most modules of the domain import constants from others, which do the same."""
    return texts(ast.parse(path.read_text()))


def texts(module: ast.Module) -> list[Statement]:
    """The texts in a module's constants: literals, and literals joined by + with other constants of the domain."""
    known = dict(_imported(module))
    found: list[Statement] = []
    for name, value in _assigned(module):
        found += _texts(name, value, known)
        if (text := _joined(value, known)) is not None:
            known[name] = text
    return found


def _assigned(module: ast.Module) -> Iterator[tuple[str, ast.expr]]:
    for line in module.body:
        match line:
            case ast.AnnAssign(target=ast.Name(id=name), value=value) if value is not None:
                yield name, value
            case ast.Assign(targets=[ast.Name(id=name)], value=value):
                yield name, value
            case _:
                pass


def _texts(name: str, value: ast.expr, known: Mapping[str, str]) -> Iterator[Statement]:
    match value:
        case ast.Constant(value=str()) | ast.BinOp():
            text = _joined(value, known)
            if text is not None:
                lines = (node.lineno for node in ast.walk(value) if isinstance(node, ast.expr))
                yield Statement(name, text, frozenset(lines))
        case ast.Dict(keys=keys, values=values):
            for key, one in zip(keys, values, strict=True):
                yield from _texts(f"{name}[{ast.unparse(key) if key else '**'}]", one, known)
        case ast.Tuple(elts=elements) | ast.List(elts=elements) | ast.Set(elts=elements):
            for place, one in enumerate(elements):
                yield from _texts(f"{name}[{place}]", one, known)
        case _:
            pass


def _joined(value: ast.expr, known: Mapping[str, str]) -> str | None:
    """The text of an expression, or None if it is not made of literals and known constants alone."""
    match value:
        case ast.Constant(value=str(text)):
            return text
        case ast.Name(id=name):
            return known.get(name)
        case ast.BinOp(left=left, op=ast.Add(), right=right):
            first, second = _joined(left, known), _joined(right, known)
            return None if first is None or second is None else first + second
        case _:
            return None


def _imported(module: ast.Module) -> Iterator[tuple[str, str]]:
    """The texts that a module imports from another module of the domain by name."""
    for line in module.body:
        match line:
            case ast.ImportFrom(module=str(source), names=names) if source.startswith("gatepass.domain."):
                path = PACKAGE.parent.joinpath(*source.split(".")).with_suffix(".py")
                found = {one.name: one.text for one in _texts_in(path)} if path.exists() else {}
                yield from ((alias.asname or alias.name, found[alias.name]) for alias in names if alias.name in found)
            case _:
                pass


def loose_sql(module: ast.Module, *, in_domain: bool) -> list[int]:
    """Lines with SQL that is not a constant of the domain.

    That is a literal that looks like SQL, in f-strings too, and a statement that is extended inside an expression.
    """
    found = texts(module) if in_domain else []
    allowed = {line for one in found for line in one.lines}
    statements = {one.name for one in found if LOOKS_LIKE_SQL.match(one.text)}
    return [
        node.lineno
        for node in ast.walk(module)
        if isinstance(node, ast.expr) and node.lineno not in allowed and _holds_sql(node, statements)
    ]


def _holds_sql(node: ast.expr, statements: set[str]) -> bool:
    match node:
        case ast.Constant(value=str(text)):
            return LOOKS_LIKE_SQL.match(text) is not None
        case ast.BinOp(left=left, right=right):
            return any(isinstance(part, ast.Name) and part.id in statements for part in (left, right))
        case ast.FormattedValue(value=ast.Name(id=name)):
            return name in statements
        case _:
            return False


def routines() -> dict[str, Any]:
    """The plpgsql functions of the domain, parsed."""
    found: dict[str, Any] = {}
    for path in sorted(DOMAIN.rglob("*.sql")):
        for statement in statements(path.read_text()):
            function: Any = pglast.parse_sql(statement)[0].stmt
            assert isinstance(function, sql.CreateFunctionStmt)
            found[function.funcname[-1].sval] = pglast.parse_plpgsql(statement)
    return found


def embedded(tree: Any) -> Iterator[str]:
    """The statements within a routine, expressions included."""
    if isinstance(tree, list):
        for one in tree:
            yield from embedded(one)
    elif isinstance(tree, dict):
        if "PLpgSQL_expr" in tree:
            query, mode = tree["PLpgSQL_expr"]["query"], tree["PLpgSQL_expr"]["parseMode"]
            yield query if mode == 0 else "SELECT " + (query.partition(":=")[2] if mode == 3 else query)
        for one in tree.values():
            yield from embedded(one)


def is_dynamic(tree: Any) -> bool:
    if isinstance(tree, dict):
        return any(key in ("PLpgSQL_stmt_dynexecute", "PLpgSQL_stmt_dynfors", "dynquery") for key in tree) or any(
            map(is_dynamic, tree.values())
        )
    return isinstance(tree, list) and any(map(is_dynamic, tree))
