"""One person, one card, and the ids that other systems have for cards and tickets. Version 0.2 can run beside it."""

from gatepass.migrations.sql import run_beside

revision = "0013"
down_revision = "0012"


def upgrade() -> None:
    run_beside(__file__)
