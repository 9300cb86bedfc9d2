"""What a statement may wait for, and what it reads besides: under READ COMMITTED the two are of different times."""

from collections.abc import Iterator
from typing import Any, Final

import pglast
import pglast.ast
from pglast.enums import LockWaitPolicy

# Untyped on purpose: in its types every field of every node may be None.
sql: Any = pglast.ast

# Their rows are locked by one verb while another waits.
CONTENDED: Final = frozenset({"event", "card", "ticket_category", "ticket"})


def stale_reads(text: str) -> list[str]:
    """The tables that this statement reads as they were before it waited; none if it waits for nothing contended.

    Of the row that it waited for, it sees the newest version. A second look at the same table is as old as any other.
    """
    found: list[str] = []
    for raw in pglast.parse_sql(text):
        nodes = list(_nodes(raw.stmt))
        ctes = {node.ctename for node in nodes if isinstance(node, sql.CommonTableExpr)}
        aliases = {id(one) for node in nodes if isinstance(node, sql.LockingClause) for one in node.lockedRels or ()}
        tables = [node for node in nodes if isinstance(node, sql.RangeVar) and id(node) not in aliases]
        read = [node.relname for node in tables if node.relname not in ctes | _inserted(nodes)]
        for table in sorted({name for node in nodes for name in _waited(node)} & CONTENDED):
            others = list(read)
            others.remove(table)
            found += [f"waits for {table} and reads {other}" for other in sorted(set(others))]
    return found


def _nodes(node: Any) -> Iterator[Any]:
    if isinstance(node, tuple | list):
        for one in node:
            yield from _nodes(one)
    elif isinstance(node, sql.Node):
        yield node
        for name in node:
            yield from _nodes(getattr(node, name))


def _inserted(nodes: list[Any]) -> set[str]:
    """Tables that get rows: who inserts reads nothing of them."""
    return {node.relation.relname for node in nodes if isinstance(node, sql.InsertStmt)}


def _waited(node: Any) -> Iterator[str]:
    match node:
        case sql.UpdateStmt() | sql.DeleteStmt():
            yield node.relation.relname
        case sql.SelectStmt():
            for lock in node.lockingClause or ():
                if lock.waitPolicy == LockWaitPolicy.LockWaitBlock:
                    yield from _locked(node, lock)
        case _:
            pass


def _locked(select: Any, lock: Any) -> Iterator[str]:
    """The tables of this query that are named, by their aliases, or all of them."""
    named = {one.relname for one in lock.lockedRels or ()}
    for table in _nodes(select.fromClause):
        if isinstance(table, sql.RangeVar) and (not named or _name(table) in named):
            yield table.relname


def _name(table: Any) -> str:
    return table.alias.aliasname if table.alias else table.relname
