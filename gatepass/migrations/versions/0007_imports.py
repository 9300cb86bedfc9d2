"""Imports of tickets, what tickets are called elsewhere, and finding cards by their holder."""

from gatepass.migrations.sql import run_beside

revision = "0007"
down_revision = "0006"


def upgrade() -> None:
    run_beside(__file__)
