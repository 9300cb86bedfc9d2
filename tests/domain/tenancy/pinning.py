"""The tenancy guard: a statement must pin `organization_id` of every tenant table that it uses.

A table is pinned if the column equals a parameter, or the same column of something that is pinned itself (an array
parameter, a CTE, an outer query). Two tables that are only compared with each other are not pinned.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, Final

import pglast
import pglast.ast
from pglast.enums import A_Expr_Kind, BoolExprType, JoinType, SubLinkType

# Untyped on purpose: in its types every field of every node may be None.
sql: Any = pglast.ast

PINNED: Final = "organization_id"
# No table has the second one: it is whose data a caller works on, beside the organization that has the caller's key.
GIVEN: Final = {PINNED, "tenant_id"}
# All that `SELECT $1` has: no table, no condition, no second value.
PLAIN_SELECT: Final = {"targetList", "limitOption", "op"}


def unpinned(text: str, tenants: frozenset[str]) -> list[str]:
    """The tenant tables that this statement uses without pinning their organization."""
    found: list[str] = []
    for raw in pglast.parse_sql(text):
        if isinstance(raw.stmt, sql.SelectStmt | sql.InsertStmt | sql.UpdateStmt | sql.DeleteStmt | sql.MergeStmt):
            _Guard(tenants, found).query(raw.stmt, frozenset(), frozenset())
        elif not isinstance(raw.stmt, sql.VacuumStmt):  # ANALYZE returns no rows
            found += [f"{type(raw.stmt).__name__} {name}" for name in tables(raw.stmt) if name in tenants]
    return found


@dataclass
class _Level:
    """The names of one query and what their `organization_id` is compared with."""

    outer: frozenset[str]
    tenants: dict[str, str] = field(default_factory=dict[str, str])
    others: set[str] = field(default_factory=set[str])
    pinned: set[str] = field(default_factory=set[str])
    follows: list[tuple[str, str]] = field(default_factory=list[tuple[str, str]])

    def names(self) -> frozenset[str]:
        return frozenset(self.tenants) | self.others

    def unpinned(self) -> list[str]:
        pinned, grown = set(self.pinned), True
        while grown:
            followers = {one for one, other in self.follows if other in pinned}
            grown = not followers <= pinned
            pinned |= followers
        return [f"{table} {alias}" for alias, table in self.tenants.items() if alias not in pinned]


class _Guard:
    def __init__(self, tenants: frozenset[str], found: list[str]) -> None:
        self._tenants = tenants
        self._found = found

    def query(self, node: Any, ctes: frozenset[str], outer: frozenset[str]) -> None:
        ctes = self._with(node, ctes, outer)
        if isinstance(node, sql.SelectStmt) and node.larg is not None:
            self.query(node.larg, ctes, outer)
            self.query(node.rarg, ctes, outer)
            self._inner((node.sortClause, node.limitOffset, node.limitCount), _Level(outer), ctes)
            return
        level = _Level(outer)
        if isinstance(node, sql.InsertStmt):
            self._insert(node, ctes, outer)
        elif isinstance(node, sql.MergeStmt):
            self._found += [f"MERGE {name}" for name in tables(node) if name in self._tenants]
        else:
            self._from(node, level, ctes)
            for one in _conjuncts(node.whereClause):
                _compare(one, level, level.names())
            self._found += level.unpinned()
        self._inner(node, level, ctes)

    def _with(self, node: Any, ctes: frozenset[str], outer: frozenset[str]) -> frozenset[str]:
        if node.withClause is not None:
            if node.withClause.recursive:
                ctes |= {cte.ctename for cte in node.withClause.ctes}
            for cte in node.withClause.ctes:
                self.query(cte.ctequery, ctes, outer)
                ctes |= {cte.ctename}
        return ctes

    def _insert(self, node: Any, ctes: frozenset[str], outer: frozenset[str]) -> None:
        if node.relation.relname in self._tenants and PINNED not in {column.name for column in node.cols or ()}:
            self._found.append(f"INSERT {node.relation.relname}")
        if node.selectStmt is not None:
            self.query(node.selectStmt, ctes, outer)

    def _from(self, node: Any, level: _Level, ctes: frozenset[str]) -> None:
        if isinstance(node, sql.UpdateStmt) and any(target.name == PINNED for target in node.targetList):
            self._found.append(f"SET {PINNED}")
        target = () if isinstance(node, sql.SelectStmt) else (node.relation,)
        more = node.usingClause if isinstance(node, sql.DeleteStmt) else node.fromClause
        for one in target:
            self._item(one, level, frozenset())
        for one in more or ():
            self._item(one, level, ctes)

    def _item(self, node: Any, level: _Level, ctes: frozenset[str]) -> set[str]:
        """Take in a thing in FROM; the names it brings."""
        if isinstance(node, sql.JoinExpr):
            return self._join(node, level, ctes)
        if not isinstance(node, sql.RangeVar | sql.RangeFunction | sql.RangeSubselect):
            self._found.append(f"{type(node).__name__} in FROM")
            return set()
        alias = node.alias.aliasname if node.alias is not None else getattr(node, "relname", "")
        if isinstance(node, sql.RangeVar) and node.relname in self._tenants - (ctes if not node.schemaname else set()):
            level.tenants[alias] = node.relname
        else:
            level.others.add(alias)
        return {alias}

    def _join(self, node: Any, level: _Level, ctes: frozenset[str]) -> set[str]:
        """An outer join's condition holds only for the side that it may leave empty."""
        left, right = self._item(node.larg, level, ctes), self._item(node.rarg, level, ctes)
        binds = {JoinType.JOIN_INNER: left | right, JoinType.JOIN_LEFT: right, JoinType.JOIN_RIGHT: left}
        bound = frozenset(binds.get(node.jointype, set()))
        for one in _conjuncts(node.quals):
            _compare(one, level, bound)
        if PINNED in {column.sval for column in node.usingClause or ()} and len(left) == len(right) == 1:
            _link(level, bound, *left, *right)
        return left | right

    def _inner(self, node: Any, level: _Level, ctes: frozenset[str]) -> None:
        """Subqueries, wherever they stand: they see the names of this level."""
        for child in _children(node):
            if isinstance(child, sql.WithClause) or (isinstance(node, sql.InsertStmt) and child is node.selectStmt):
                continue
            if isinstance(child, sql.SelectStmt):
                self.query(child, ctes, level.outer | level.names())
            else:
                self._inner(child, level, ctes)


def _compare(condition: Any, level: _Level, bound: frozenset[str]) -> None:
    """If this says that `organization_id` equals something, remember it."""
    if not isinstance(condition, sql.A_Expr) or condition.name[-1].sval != "=":
        return
    left, right = condition.lexpr, condition.rexpr
    if condition.kind == A_Expr_Kind.AEXPR_OP and isinstance(left, sql.RowExpr) and isinstance(right, sql.RowExpr):
        for one, other in zip(left.args, right.args, strict=True):
            _equal(one, other, level, bound)
    elif condition.kind == A_Expr_Kind.AEXPR_OP:
        _equal(left, right, level, bound)
    elif (condition.kind == A_Expr_Kind.AEXPR_OP_ANY and _is_given(right)) or (
        condition.kind == A_Expr_Kind.AEXPR_IN and all(map(_is_given, right))
    ):
        _pin(left, level, bound)


def _equal(left: Any, right: Any, level: _Level, bound: frozenset[str]) -> None:
    for one, other in ((left, right), (right, left)):
        if _is_given(other):
            _pin(one, level, bound)
    left_name, right_name = _owner(left, level), _owner(right, level)
    if left_name is not None and right_name is not None:
        _link(level, bound, left_name, right_name)


def _link(level: _Level, bound: frozenset[str], left: str, right: str) -> None:
    for one, other in ((left, right), (right, left)):
        if one in bound and one != other:
            if other in level.tenants:
                level.follows.append((one, other))
            elif other in level.others or other in level.outer:
                level.pinned.add(one)


def _pin(column: Any, level: _Level, bound: frozenset[str]) -> None:
    owner = _owner(column, level)
    if owner in bound:
        level.pinned.add(owner)


def _owner(node: Any, level: _Level) -> str | None:
    """The alias that this `organization_id` belongs to; None for any other expression."""
    if not isinstance(node, sql.ColumnRef):
        return None
    names = [part.sval for part in node.fields if isinstance(part, sql.String)]
    if not names or names[-1] not in GIVEN:
        return None
    if len(names) == 2:
        return names[0]
    return next(iter(level.tenants)) if len(names) == 1 and len(level.tenants) == 1 else None


def _is_given(node: Any) -> bool:
    """A parameter, or the argument of a routine: what a caller hands in."""
    if isinstance(node, sql.TypeCast):
        return _is_given(node.arg)
    if isinstance(node, sql.ColumnRef) and len(node.fields) == 1 and isinstance(node.fields[0], sql.String):
        return node.fields[0].sval.startswith("p_")
    return isinstance(node, sql.ParamRef) or (isinstance(node, sql.SubLink) and _is_hidden(node))


def _is_hidden(node: Any) -> bool:
    """`(SELECT $1)`: a parameter whose value the planner does not see."""
    query = node.subselect
    if node.subLinkType != SubLinkType.EXPR_SUBLINK or not query.targetList or len(query.targetList) != 1:
        return False
    return _is_given(query.targetList[0].val) and {name for name in query if getattr(query, name)} <= PLAIN_SELECT


def _conjuncts(node: Any) -> Iterator[Any]:
    if isinstance(node, sql.BoolExpr) and node.boolop == BoolExprType.AND_EXPR:
        for one in node.args:
            yield from _conjuncts(one)
    elif node is not None:
        yield node


def _children(node: Any) -> Iterator[Any]:
    if isinstance(node, tuple):
        yield from node
    elif isinstance(node, sql.Node):
        for name in node:
            yield getattr(node, name)


def tables(node: Any) -> Iterator[str]:
    if isinstance(node, sql.RangeVar):
        yield node.relname
    for child in _children(node):
        yield from tables(child)
