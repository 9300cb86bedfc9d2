"""Journals of devices, and incidents. Version 0.2 can run beside it."""

from gatepass.migrations.sql import run_beside

revision = "0029"
down_revision = "0028"


def upgrade() -> None:
    run_beside(__file__)
