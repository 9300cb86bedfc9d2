"""No statement reaches across organizations: each one is parsed and must pin `organization_id` of every tenant table.

What is pinned: the column equals a parameter, or the same column of something that is pinned itself (an array
that was handed in, a CTE, an outer query). Two tables that are only compared with each other are not. A
statement that must look at every organization says so in its first line, and stands in EVERY_ORGANIZATION.
"""

import ast
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

import pglast
import pglast.ast
import psycopg
import pytest
from pglast.enums import A_Expr_Kind, BoolExprType, JoinType

import gatepass
from gatepass.base.database import Database
from gatepass.migrations.sql import statements

# Untyped on purpose: in its types every field of every node may be None.
sql: Any = pglast.ast

PACKAGE: Final = Path(gatepass.__file__).parent
DOMAIN: Final = PACKAGE / "domain"
PINNED: Final = "organization_id"
EXEMPT: Final = re.compile(r"\s*-- every organization: \S")
LOOKS_LIKE_SQL: Final = re.compile(
    r"\s*(--[^\n]*\n\s*)*"
    r"(SELECT|INSERT|UPDATE|DELETE|MERGE|WITH|TABLE|VALUES|TRUNCATE|LOCK|COPY|ANALYZE|CREATE|ALTER|DROP|SET|DO|CALL)\s"
)

# Every statement that is allowed to look at more than one organization.
EVERY_ORGANIZATION: Final = {
    "events/covers.FIND",
    "events/editing.END_PAST",
    "imports/advancing.NEXT",
    "imports/sweeping.GIVE_UP",
    "imports/sweeping.NEXT",
    "keys/authentication.BY_HASH",
    "resealing.PRIVATE_KEYS",
    "resealing.SECRETS",
    "resealing.NEW_SECRETS",
    "staff/invitations.OFFER",
    "staff/membership.WORKPLACES",
    "staff/sessions.BEGIN",
    "staff/sessions.FIND",
    "tickets/cancellation.CANCEL_SOME",
    "webhooks/backlog.AGES",
    "webhooks/backlog.CLEARED",
    "webhooks/backlog.DROP_SOME_OF_DELETED",
    "webhooks/backlog.EXPIRE_SOME",
    "webhooks/backlog.SET_ASIDE_SOME",
    "webhooks/replays.NEXT",
}
# And every routine: a worker serves them all.
ROUTINES_FOR_EVERY_ORGANIZATION: Final = ["claim_deliveries"]
# Routines that build statements out of names: partitions come and go, and have no name before.
DYNAMIC: Final = {"make_missing_partition", "drop_expired_partition", "empty_next_generation"}
NOT_OF_A_TENANT: Final = {
    "organization", "history", "idempotency_generation", "alembic_version",
    # People may work for several organizations.
    "person", "studio_session", "sign_in_link",
    # So are their credentials.
    "password", "passkey", "one_time_code", "recovery_code", "challenge", "failed_try",
}  # fmt: skip


# ---- the guard -------------------------------------------------------------------------------------------------


def unpinned(text: str, tenants: frozenset[str]) -> list[str]:
    """The tenant tables that this statement uses without pinning their organization."""
    found: list[str] = []
    for raw in pglast.parse_sql(text):
        if isinstance(raw.stmt, sql.SelectStmt | sql.InsertStmt | sql.UpdateStmt | sql.DeleteStmt | sql.MergeStmt):
            _Guard(tenants, found).query(raw.stmt, frozenset(), frozenset())
        elif not isinstance(raw.stmt, sql.VacuumStmt):  # ANALYZE: it tells nobody anything
            found += [f"{type(raw.stmt).__name__} {name}" for name in _tables(raw.stmt) if name in tenants]
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
            self._found += [f"MERGE {name}" for name in _tables(node) if name in self._tenants]
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
    """Whose `organization_id` this is, if it is one."""
    if not isinstance(node, sql.ColumnRef):
        return None
    names = [part.sval for part in node.fields if isinstance(part, sql.String)]
    if names[-1:] != [PINNED]:
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
    return isinstance(node, sql.ParamRef)


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


def _tables(node: Any) -> Iterator[str]:
    if isinstance(node, sql.RangeVar):
        yield node.relname
    for child in _children(node):
        yield from _tables(child)


# ---- where statements are found --------------------------------------------------------------------------------


@dataclass(frozen=True)
class Statement:
    name: str
    text: str

    @property
    def is_exempt(self) -> bool:
        return EXEMPT.match(self.text) is not None


def constants(path: Path) -> list[Statement]:
    """The SQL in a module's constants; in dictionaries too."""
    module = str(path.relative_to(DOMAIN).with_suffix(""))
    return [
        Statement(f"{module}.{name}", node.value)
        for name, node in _constant_nodes(ast.parse(path.read_text()))
        if LOOKS_LIKE_SQL.match(node.value)
    ]


def _constant_nodes(module: ast.Module) -> Iterator[tuple[str, Any]]:
    for line in module.body:
        match line:
            case ast.AnnAssign(target=ast.Name(id=name), value=value) if value is not None:
                yield from _texts(name, value)
            case ast.Assign(targets=[ast.Name(id=name)], value=value):
                yield from _texts(name, value)
            case _:
                pass


def _texts(name: str, value: ast.expr) -> Iterator[tuple[str, Any]]:
    match value:
        case ast.Constant(value=str()):
            yield name, value
        case ast.Dict(keys=keys, values=values):
            for key, one in zip(keys, values, strict=True):
                yield from _texts(f"{name}[{ast.unparse(key) if key else '**'}]", one)
        case ast.Tuple(elts=elements) | ast.List(elts=elements) | ast.Set(elts=elements):
            for place, one in enumerate(elements):
                yield from _texts(f"{name}[{place}]", one)
        case _:
            pass


def loose_sql(path: Path, *, allowed: set[int]) -> list[str]:
    """Literals that look like SQL, in f-strings too, except the nodes in `allowed`."""
    return [
        f"{path.relative_to(PACKAGE)}:{node.lineno}"
        for node in ast.walk(ast.parse(path.read_text()))
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and LOOKS_LIKE_SQL.match(node.value)
        if node.lineno not in allowed
    ]


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


@pytest.fixture(scope="module")
def tenants(db: Database, database_url: str) -> frozenset[str]:
    """Every table with an `organization_id`, as the migrated database has them, partitions included."""
    with psycopg.connect(database_url) as connection:
        return frozenset(name for (name,) in connection.execute(TENANTS))


TENANTS: Final = f"""
    SELECT c.relname
      FROM pg_class c
      JOIN pg_attribute a ON a.attrelid = c.oid AND a.attname = '{PINNED}' AND NOT a.attisdropped
     WHERE c.relnamespace = 'public'::regnamespace
       AND c.relkind IN ('r', 'p')
"""


# ---- the domain's statements -----------------------------------------------------------------------------------

MODULES: Final = sorted(DOMAIN.rglob("*.py"))
STATEMENTS: Final = [statement for path in MODULES for statement in constants(path)]


@pytest.mark.parametrize("statement", STATEMENTS, ids=lambda statement: statement.name)
def test_a_statement_stays_in_its_organization(statement: Statement, tenants: frozenset[str]) -> None:
    reaching_out = unpinned(statement.text, tenants)
    # An exemption that is not needed hides the day on which it is.
    assert bool(reaching_out) == statement.is_exempt, reaching_out


def test_only_these_statements_look_at_every_organization() -> None:
    assert {statement.name for statement in STATEMENTS if statement.is_exempt} == EVERY_ORGANIZATION


def test_the_guard_sees_the_statements() -> None:
    assert {"tickets/cancellation.CANCEL", "demonstration.CLEAR['ticket']"} <= {one.name for one in STATEMENTS}
    assert len(STATEMENTS) > 50


def test_a_routine_stays_in_its_organization(tenants: frozenset[str]) -> None:
    found = {name: [list(unpinned(text, tenants)) for text in embedded(tree)] for name, tree in routines().items()}
    assert [name for name, tables in found.items() if any(tables)] == ROUTINES_FOR_EVERY_ORGANIZATION
    assert {"ticket", "card", "event", "idempotency"} <= {
        table
        for text in embedded(routines()["activate_scans"])
        for raw in pglast.parse_sql(text)
        for table in _tables(raw.stmt)
    }


def test_only_these_routines_build_statements() -> None:
    assert {name for name, tree in routines().items() if is_dynamic(tree)} == DYNAMIC


def test_sql_stands_in_constants_of_the_domain_and_nowhere_else() -> None:
    loose: list[str] = []
    for path in sorted(PACKAGE.rglob("*.py")):
        if path.is_relative_to(PACKAGE / "migrations"):
            continue
        in_domain = path.is_relative_to(DOMAIN)
        nodes = _constant_nodes(ast.parse(path.read_text())) if in_domain else ()
        loose += loose_sql(path, allowed={node.lineno for _, node in nodes})
    assert loose == []


def test_copied_rows_name_their_organization(tenants: frozenset[str]) -> None:
    copies = [
        [ast.literal_eval(argument) for argument in node.args[:2]]
        for path in MODULES
        for node in ast.walk(ast.parse(path.read_text()))
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == "copy"
    ]
    assert copies
    assert [table for table, columns in copies if table in tenants and PINNED not in columns] == []


# ---- what the guard must refuse, and what it must let pass -----------------------------------------------------

BAD: Final = [
    "SELECT id FROM ticket",
    "SELECT id FROM ticket WHERE id = $1",
    "SELECT id FROM public.ticket WHERE id = $1",
    "SELECT id FROM ticket WHERE organization_id = $1 OR id = $2",
    "SELECT id FROM ticket WHERE NOT organization_id = $1",
    "SELECT id FROM ticket WHERE organization_id <> $1",
    "SELECT id FROM ticket WHERE organization_id > $1",
    "SELECT id FROM ticket WHERE organization_id IS NOT NULL",
    "SELECT id FROM ticket WHERE organization_id = organization_id",
    "SELECT id FROM ticket WHERE organization_id <> ALL ($1)",
    "SELECT id FROM ticket WHERE organization_id NOT IN ($1, $2)",
    "SELECT id FROM ticket WHERE organization_id = coalesce($1, organization_id)",
    "SELECT id FROM ticket WHERE organization_id IN (SELECT id FROM organization)",
    "SELECT id FROM ticket WHERE id = $1 ORDER BY organization_id = $2",
    "SELECT id, organization_id = $1 FROM ticket",
    "SELECT t.id FROM ticket t JOIN event e ON e.id = t.event_id WHERE t.organization_id = $1",
    "SELECT t.id FROM ticket t JOIN event e ON e.organization_id = t.organization_id WHERE e.id = $1",
    "SELECT t.id FROM ticket t JOIN event e USING (organization_id)",
    "SELECT t.id FROM ticket t LEFT JOIN event e ON e.organization_id = $1 AND t.organization_id = $1",
    "SELECT t.id FROM ticket t LEFT JOIN event e ON e.organization_id = t.organization_id",
    "SELECT t.id FROM event e RIGHT JOIN ticket t ON e.organization_id = $1 AND t.organization_id = $1",
    "SELECT t.id FROM ticket t FULL JOIN event e ON e.organization_id = $1 AND t.organization_id = $1",
    "SELECT t.id FROM ticket t, card c WHERE t.organization_id = $1",
    "SELECT t.id FROM ticket t JOIN card c ON c.organization_id = t.card_id WHERE t.organization_id = $1",
    "SELECT (SELECT count(*) FROM ticket) FROM event WHERE organization_id = $1",
    "SELECT 1 WHERE EXISTS (SELECT FROM card WHERE number = $1)",
    "SELECT e.id FROM event e WHERE e.organization_id = $1 AND EXISTS (SELECT FROM ticket x WHERE x.event_id = e.id)",
    "SELECT * FROM (SELECT * FROM card) c WHERE c.organization_id = $1",
    "SELECT * FROM unnest($1::uuid[]) u (id) CROSS JOIN LATERAL (SELECT FROM card c WHERE c.id = u.id) x",
    "SELECT id FROM event WHERE organization_id = $1 UNION ALL SELECT id FROM card",
    "WITH ticket AS (SELECT * FROM card WHERE organization_id = $1) SELECT * FROM ticket, event",
    "WITH ticket AS (SELECT * FROM card WHERE organization_id = $1) SELECT * FROM public.ticket",
    "SELECT id FROM card WHERE organization_id = $1 UNION SELECT $2 LIMIT (SELECT count(*) FROM ticket)",
    "WITH c AS (SELECT * FROM card) SELECT * FROM c WHERE c.organization_id = $1",
    "WITH gone AS (DELETE FROM ticket RETURNING id) SELECT id FROM gone",
    "INSERT INTO ticket (id) VALUES ($1)",
    "INSERT INTO ticket VALUES ($1, $2)",
    "INSERT INTO scan (organization_id, id) SELECT organization_id, id FROM audit",
    "INSERT INTO scan (organization_id, id) VALUES ($1, (SELECT id FROM audit LIMIT 1))",
    "UPDATE ticket SET activated_at = $1 WHERE id = $2",
    "UPDATE ticket SET organization_id = $1 WHERE organization_id = $2",
    "UPDATE ticket t SET activated_at = $1 FROM card c WHERE c.organization_id = $2 AND c.id = t.card_id",
    "UPDATE ticket t SET activated_at = (SELECT max(at) FROM scan) WHERE t.organization_id = $1",
    "DELETE FROM ticket",
    "DELETE FROM ticket USING card c WHERE c.organization_id = $1 AND c.id = card_id",
    "WITH ticket AS (SELECT $1::uuid AS organization_id) DELETE FROM ticket",
    "MERGE INTO ticket t USING card c ON c.id = t.card_id WHEN MATCHED THEN DELETE",
    "TRUNCATE ticket",
    "LOCK TABLE ticket",
    "COPY ticket TO STDOUT",
    "SELECT * FROM ticket TABLESAMPLE SYSTEM (1) WHERE organization_id = $1",
]

GOOD: Final = [
    "SELECT id FROM organization WHERE id = $1",
    "SELECT id FROM ticket WHERE organization_id = $1",
    "SELECT id FROM ticket WHERE $1 = organization_id AND (id = $2 OR id = $3)",
    "SELECT id FROM ticket WHERE organization_id = $1::uuid",
    "SELECT id FROM ticket WHERE organization_id = ANY ($1)",
    "SELECT id FROM ticket WHERE organization_id IN ($1, $2)",
    "SELECT id FROM ticket WHERE (organization_id, id) = ($1, $2)",
    "SELECT id FROM ticket WHERE organization_id = p_organization",
    """
    SELECT t.id
      FROM ticket t
      JOIN card c ON c.organization_id = t.organization_id
      JOIN event e ON e.organization_id = c.organization_id
     WHERE t.organization_id = $1
    """,
    "SELECT t.id FROM ticket t JOIN card c USING (organization_id) WHERE t.organization_id = $1",
    "SELECT t.id FROM ticket t LEFT JOIN card c ON c.organization_id = t.organization_id WHERE t.organization_id = $1",
    """
    SELECT c.id
      FROM unnest($1::uuid[]) u (organization_id)
     CROSS JOIN LATERAL (SELECT id FROM card x WHERE x.organization_id = u.organization_id) c
    """,
    """
    SELECT e.id
      FROM event e
     WHERE e.organization_id = $1
       AND EXISTS (SELECT FROM ticket x WHERE x.organization_id = e.organization_id)
    """,
    """
    WITH c AS (SELECT * FROM card WHERE organization_id = $1)
    SELECT t.id
      FROM c
      JOIN ticket t ON t.organization_id = c.organization_id
    """,
    "INSERT INTO ticket (organization_id, id) VALUES ($1, $2)",
    "UPDATE ticket SET activated_at = $1 WHERE organization_id = $2",
    "DELETE FROM ticket t USING card c WHERE t.organization_id = c.organization_id AND c.organization_id = $1",
    "ANALYZE ticket",
]


@pytest.mark.parametrize("text", BAD)
def test_the_guard_refuses(text: str, tenants: frozenset[str]) -> None:
    assert unpinned(text, tenants)


@pytest.mark.parametrize("text", GOOD)
def test_the_guard_lets_pass(text: str, tenants: frozenset[str]) -> None:
    assert not unpinned(text, tenants)


def test_the_guard_looks_into_routines(tenants: frozenset[str]) -> None:
    tree = pglast.parse_plpgsql("""
        CREATE FUNCTION f() RETURNS SETOF event LANGUAGE plpgsql AS $$
        DECLARE
            x uuid;
        BEGIN
            IF EXISTS (SELECT FROM card) THEN
                x := (SELECT id FROM ticket);
            END IF;
            RETURN QUERY SELECT * FROM event;
        END
        $$
    """)
    assert [name for text in embedded(tree) for name in unpinned(text, tenants)] == [
        "card card",
        "ticket ticket",
        "event event",
    ]


# ---- the catalogue ---------------------------------------------------------------------------------------------


def test_every_key_of_a_tenant_table_begins_with_its_organization(db: Database, database_url: str) -> None:
    """Foreign keys on both sides. Only `organization`, and `person`, who is of none, have another column."""
    with psycopg.connect(database_url) as connection:
        keys = connection.execute(KEYS).fetchall()
        indexes = connection.execute(UNIQUE_INDEXES).fetchall()
    assert {kind for _, _, kind, _, _ in keys} == {"p", "f", "u"}
    assert [key for key in keys if key[3] != PINNED or key[4] not in (None, PINNED, "organization.id")] == []
    assert [index for index in indexes if index[1] != PINNED] == []


def test_every_other_table_is_known(db: Database, database_url: str, tenants: frozenset[str]) -> None:
    with psycopg.connect(database_url) as connection:
        tables = {name for (name,) in connection.execute(TABLES)}
    assert tables - tenants == NOT_OF_A_TENANT
    assert any(name.startswith("audit_2") for name in tenants), "partitions are looked at too"


TABLES: Final = """
    SELECT relname FROM pg_class WHERE relnamespace = 'public'::regnamespace AND relkind IN ('r', 'p')
"""

KEYS: Final = f"""
    SELECT c.conrelid::regclass::text, c.conname, c.contype,
           (SELECT attname FROM pg_attribute WHERE attrelid = c.conrelid AND attnum = c.conkey[1]),
           CASE WHEN c.contype = 'f' THEN
               (SELECT CASE WHEN c.confrelid = 'organization'::regclass THEN 'organization.' ELSE '' END || attname
                  FROM pg_attribute WHERE attrelid = c.confrelid AND attnum = c.confkey[1]) END
      FROM pg_constraint c
     WHERE c.contype IN ('p', 'u', 'f')
       AND c.confrelid <> 'person'::regclass
       AND c.conrelid IN (SELECT attrelid FROM pg_attribute WHERE attname = '{PINNED}')
"""

UNIQUE_INDEXES: Final = f"""
    SELECT i.indexrelid::regclass::text,
           (SELECT attname FROM pg_attribute WHERE attrelid = i.indrelid AND attnum = i.indkey[0])
      FROM pg_index i
     WHERE i.indisunique
       AND i.indrelid IN (SELECT attrelid FROM pg_attribute WHERE attname = '{PINNED}')
"""
