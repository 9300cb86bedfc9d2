"""Addresses of staff that are proven by mail. Version 0.2 can run beside it."""

from gatepass.migrations.sql import run_beside

revision = "0025"
down_revision = "0024"


def upgrade() -> None:
    run_beside(__file__)
