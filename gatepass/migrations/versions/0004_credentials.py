"""Credentials, challenges, failed tries and invitations."""

from gatepass.migrations.sql import run_beside

revision = "0004"
down_revision = "0003"


def upgrade() -> None:
    run_beside(__file__)
