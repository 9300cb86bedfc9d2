"""Upgrading the schema, and saying in one line why it could not be done.

Imported where it is used: Alembic and SQLAlchemy take a second, and `gatepass --help` should not wait for them.
"""

from alembic.util.exc import CommandError
from sqlalchemy.exc import DBAPIError

from gatepass.base.settings import Settings
from gatepass.cli import reaching
from gatepass.cli.trouble import Trouble
from gatepass.migrations import runner


def upgrade(settings: Settings) -> str:
    """Bring the database to head; the revision it is at now."""
    url = settings.database_url.get_secret_value()
    try:
        return runner.upgrade(url)
    except DBAPIError as error:
        said = str(error.orig).splitlines()[0]
        raise Trouble(f"PostgreSQL at {reaching.where(url)} says: {said}") from error
    except TimeoutError as error:
        raise Trouble(f"A change of the schema got {error}. Try again when the database is less busy.") from error
    except CommandError as error:
        raise Trouble(f"This version does not know the database's revision: {error}. Is the database newer?") from error


def as_sql() -> str:
    return runner.as_sql()
