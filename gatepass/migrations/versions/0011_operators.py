"""For operators: suspended and closed organizations, disabled people. Version 0.2 can run beside it."""

from gatepass.migrations.sql import run_beside

revision = "0011"
down_revision = "0010"


def upgrade() -> None:
    run_beside(__file__)
