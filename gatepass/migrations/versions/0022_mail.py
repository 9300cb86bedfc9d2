"""Mail. Version 0.2 can run beside it."""

from gatepass.migrations.sql import run_beside

revision = "0022"
down_revision = "0021"


def upgrade() -> None:
    run_beside(__file__)
