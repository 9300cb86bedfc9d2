"""Phones that show their own codes. Version 0.2 can run beside it."""

from gatepass.migrations.sql import run_beside

revision = "0021"
down_revision = "0020"


def upgrade() -> None:
    run_beside(__file__)
