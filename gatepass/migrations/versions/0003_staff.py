"""The people of the studio, their places and their sessions."""

from gatepass.migrations.sql import run_beside

revision = "0003"
down_revision = "0002"


def upgrade() -> None:
    run_beside(__file__)
