"""The reason of a cancelled event, for its tickets. Version 0.2 can run beside it."""

from gatepass.migrations.sql import run_beside

revision = "0015"
down_revision = "0014"


def upgrade() -> None:
    run_beside(__file__)
