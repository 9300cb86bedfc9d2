"""Lists: keys by age, changes by actor, holders by e-mail."""

from gatepass.migrations.sql import run_beside

revision = "0005"
down_revision = "0004"


def upgrade() -> None:
    run_beside(__file__)
