"""Devices at the gates, and their keys. Version 0.2 can run beside it."""

from gatepass.migrations.sql import run_beside

revision = "0027"
down_revision = "0026"


def upgrade() -> None:
    run_beside(__file__)
