"""Events: the clock of the venue, cover pictures, and lists of every status."""

from gatepass.migrations.sql import run_beside

revision = "0006"
down_revision = "0005"


def upgrade() -> None:
    run_beside(__file__)
