"""Idempotency keys of every POST, and the versions of events. Version 0.2 can run beside it."""

from gatepass.migrations.sql import run_beside

revision = "0014"
down_revision = "0013"


def upgrade() -> None:
    run_beside(__file__)
