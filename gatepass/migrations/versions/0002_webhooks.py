"""Webhooks: who is told, what happened, and what is still to be sent."""

from gatepass.migrations.sql import run_beside

revision = "0002"
down_revision = "0001"


def upgrade() -> None:
    run_beside(__file__)
