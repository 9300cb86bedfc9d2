"""Exports and print files of cards. Version 0.2 can run beside it."""

from gatepass.migrations.sql import run_beside

revision = "0023"
down_revision = "0022"


def upgrade() -> None:
    run_beside(__file__)
