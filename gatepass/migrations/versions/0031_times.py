"""When a history last lost a partition, and when an event was opened again. The version before can run beside it."""

from gatepass.migrations.sql import run_beside

revision = "0031"
down_revision = "0030"


def upgrade() -> None:
    run_beside(__file__)
