"""Undone activations: a card's history keeps the scan that let it in. Version 0.2 can run beside it."""

from gatepass.migrations.sql import run_beside

revision = "0012"
down_revision = "0011"


def upgrade() -> None:
    run_beside(__file__)
