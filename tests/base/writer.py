"""A process that writes the name of a table into that table: `python -m tests.base.writer URL TABLE`.

Another one, with another table, prepares its statements in the same order.
"""

import asyncio
import sys
from collections import Counter
from typing import Final, LiteralString

from gatepass.base.database import Database
from gatepass.base.errors import Unavailable

INSERT: Final[dict[str, LiteralString]] = {
    "first": "INSERT INTO first (writer) VALUES ($1)",
    "second": "INSERT INTO second (writer) VALUES ($1)",
}
CONNECTIONS: Final = 8
CALLS: Final = 100


async def write(database: Database, table: str) -> Counter[str]:
    """The outcomes of many calls, half of them in a transaction: `done`, or the cause of the refusal."""
    seen = Counter[str]()

    async def caller() -> None:
        for number in range(CALLS):
            opened = database.transaction() if number % 2 else database.autocommit(writes=True)
            try:
                async with opened as tx:
                    await tx.run(INSERT[table], table)
                seen["done"] += 1
            except Unavailable as refusal:
                seen[refusal.cause] += 1

    await asyncio.gather(*(caller() for _ in range(CONNECTIONS)))
    return seen


async def main(url: str, table: str) -> None:
    database = Database(url, connections=CONNECTIONS)
    print(" ".join(f"{cause}={count}" for cause, count in (await write(database, table)).items()))
    await database.close()


if __name__ == "__main__":
    asyncio.run(main(*sys.argv[1:]))
