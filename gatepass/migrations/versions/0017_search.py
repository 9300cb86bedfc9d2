"""People by any word of their name or address, and cards by any four digits. Version 0.2 can run beside it."""

from gatepass.migrations.sql import run_beside

revision = "0017"
down_revision = "0016"


def upgrade() -> None:
    run_beside(__file__)
