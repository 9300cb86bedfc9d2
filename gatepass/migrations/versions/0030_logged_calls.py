"""A scan is its own entry of the request log. Version 0.2 can run beside it."""

from gatepass.migrations.sql import run_beside

revision = "0030"
down_revision = "0029"


def upgrade() -> None:
    run_beside(__file__)
