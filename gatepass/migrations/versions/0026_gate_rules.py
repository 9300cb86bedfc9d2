"""Rules at the gate: doors, windows, gates of a category. Version 0.2 can run beside it."""

from gatepass.migrations.sql import run_beside

revision = "0026"
down_revision = "0025"


def upgrade() -> None:
    run_beside(__file__)
