"""Access to the studio: a required second factor, networks, and notices. Version 0.2 can run beside it."""

from gatepass.migrations.sql import run_beside

revision = "0010"
down_revision = "0009"


def upgrade() -> None:
    run_beside(__file__)
