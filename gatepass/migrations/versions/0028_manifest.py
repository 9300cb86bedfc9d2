"""What the manifest of an event is made of. Version 0.2 can run beside it."""

from gatepass.migrations.sql import run_beside

revision = "0028"
down_revision = "0027"


def upgrade() -> None:
    run_beside(__file__)
