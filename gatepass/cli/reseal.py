"""`gatepass reseal`: every secret sealed with the first encryption key, so that the older ones can go."""

import asyncio
from typing import Final

from gatepass.base.settings import Settings
from gatepass.cli import environment, reaching
from gatepass.cli.environment import variable
from gatepass.cli.trouble import Trouble
from gatepass.domain import resealing
from gatepass.domain.resealing import Row, Sealed

# If the wrong key is set, none of them opens; a screen of rows is enough to see that.
MOST_NAMED: Final = 100


def reseal() -> None:
    """Seal every secret with the first encryption key. Safe at any time, and to repeat."""
    done = asyncio.run(_reseal(environment.read_with_vault()))
    print(f"Secrets resealed: {done.resealed}. Sealed by the first encryption key now: {done.current}.", flush=True)
    if done.unopened:
        raise Trouble(
            f"None of the keys in {variable('encryption_keys')} opens these. Add the key that sealed them, and run "
            "this again; remove no key before.",
            *_named(done.unopened),
        )


async def _reseal(settings: Settings) -> Sealed:
    async with reaching.database(settings) as db:
        return await resealing.reseal(db, settings.vault())


def _named(unopened: list[Row]) -> list[str]:
    """A line for each row; one row may hold two secrets."""
    rows = [f"  {row.table} {row.id}" for row in dict.fromkeys(unopened)]
    more = len(rows) - MOST_NAMED
    return rows if more <= 0 else [*rows[:MOST_NAMED], f"  and {more} more"]
