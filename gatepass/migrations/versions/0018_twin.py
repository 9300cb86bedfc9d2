"""The sandbox twin of an organization. Version 0.2 can run beside it."""

from gatepass.migrations.sql import run_beside

revision = "0018"
down_revision = "0017"


def upgrade() -> None:
    run_beside(__file__)
