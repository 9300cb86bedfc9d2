"""The first schema: organizations, keys, events, cards, tickets and their history."""

from gatepass.migrations.sql import run_beside

revision = "0001"
down_revision = None


def upgrade() -> None:
    run_beside(__file__)
