"""`gatepass secret`: a new key for secrets at rest, ready to paste into the environment."""

from gatepass.base import vault
from gatepass.cli.environment import variable


def secret() -> None:
    """Print a new encryption key for GATEPASS_ENCRYPTION_KEYS."""
    print(f"{variable('encryption_keys')}={vault.new_key()}")
