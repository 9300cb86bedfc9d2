"""Plain names: `request_log`, `audit_log` and `idempotency_key`. Stop the processes, migrate, start the new version."""

from gatepass.migrations.sql import run_beside

revision = "0008"
down_revision = "0007"


def upgrade() -> None:
    run_beside(__file__)
