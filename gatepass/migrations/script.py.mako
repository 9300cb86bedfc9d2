"""${message}"""

from gatepass.migrations.sql import run_beside

revision = ${repr(up_revision)}
down_revision = ${repr(down_revision)}


def upgrade() -> None:
    run_beside(__file__)
