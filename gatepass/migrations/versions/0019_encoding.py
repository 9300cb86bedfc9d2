"""The encoding of an imported file. Version 0.2 can run beside it."""

from gatepass.migrations.sql import run_beside

revision = "0019"
down_revision = "0018"


def upgrade() -> None:
    run_beside(__file__)
