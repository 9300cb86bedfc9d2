"""What people sign in with, what they were asked, and who was invited."""

from gatepass.migrations.sql import run_beside

revision = "0004"
down_revision = "0003"


def upgrade() -> None:
    run_beside(__file__)
