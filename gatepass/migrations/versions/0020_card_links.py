"""Links to card pages. Version 0.2 can run beside it."""

from gatepass.migrations.sql import run_beside

revision = "0020"
down_revision = "0019"


def upgrade() -> None:
    run_beside(__file__)
