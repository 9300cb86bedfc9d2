"""A database as an earlier revision left it."""

import psycopg

from gatepass.migrations.head import REVISIONS
from gatepass.migrations.sql import statements


def install(url: str, last: str) -> None:
    """Run the revisions up to this one."""
    with psycopg.connect(url, autocommit=True) as connection:
        for path in REVISIONS:
            if path.name[:4] <= last:
                for statement in statements(path.read_text()):
                    connection.execute(statement.encode())
        connection.execute("CREATE TABLE alembic_version (version_num varchar(32) PRIMARY KEY)")
        connection.execute("INSERT INTO alembic_version VALUES (%s)", (last,))
