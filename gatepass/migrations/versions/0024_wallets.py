"""Passes in wallets. Version 0.2 can run beside it."""

from gatepass.migrations.sql import run_beside

revision = "0024"
down_revision = "0023"


def upgrade() -> None:
    run_beside(__file__)
