"""Accounts: proven addresses, removed people, and one form of an address."""

from gatepass.migrations.sql import run_beside

revision = "0009"
down_revision = "0008"


def upgrade() -> None:
    run_beside(__file__)
