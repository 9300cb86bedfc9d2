"""`gatepass secret` makes an encryption key; `gatepass reencrypt` brings every secret under the first one.

Once that is done, the older keys can go.
"""

import asyncio
from typing import Final

from gatepass.base import encryption
from gatepass.base.settings import Settings
from gatepass.cli import database
from gatepass.cli.errors import CommandError
from gatepass.cli.settings import read_settings_with_vault, variable
from gatepass.domain.reencrypt import EncryptionReport, SecretLocation, reencrypt_secrets

# If the wrong key is set, none of them opens; a screen of rows is enough to see that.
MAX_ROWS: Final = 100


def secret() -> None:
    """Print a new encryption key for GATEPASS_ENCRYPTION_KEYS."""
    print(f"{variable('encryption_keys')}={encryption.new_key()}")


def reencrypt() -> None:
    """Encrypt every secret with the first encryption key. Safe at any time, and to repeat."""
    done = asyncio.run(_reencrypt(read_settings_with_vault()))
    print(
        f"Secrets re-encrypted: {done.reencrypted}. Sealed by the first encryption key now: {done.current}.", flush=True
    )
    if done.undecryptable:
        raise CommandError(
            f"None of the keys in {variable('encryption_keys')} opens these. Add the key that sealed them, and run "
            "this again; remove no key before.",
            *_lines(done.undecryptable),
        )


async def _reencrypt(settings: Settings) -> EncryptionReport:
    async with database.database(settings) as db:
        return await reencrypt_secrets(db, settings.vault())


def _lines(undecryptable: list[SecretLocation]) -> list[str]:
    """A line for each row; one row may hold two secrets."""
    rows = [f"  {row.table} {row.id}" for row in dict.fromkeys(undecryptable)]
    more = len(rows) - MAX_ROWS
    return rows if more <= 0 else [*rows[:MAX_ROWS], f"  and {more} more"]
