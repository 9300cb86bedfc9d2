"""The judge: was anything promised that is not so? It compares a journal with the database and the receiver's file.

python -m tests.ha.judge JOURNAL.jsonl WORLD.json RECEIVED.jsonl DATABASE_URL
"""

import asyncio
import json
import sys
from collections import Counter
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from tests import factory
from tests.ha import exactness, messages, tables, timing
from tests.ha.exactness import is_definite
from tests.ha.journal import Journal
from tests.ha.receiver import Received, read_received
from tests.ha.world import World

# Seconds for a statement: a hundred thousand rows are read.
READ_WITHIN = 60.0
EXAMPLES_OF_A_KIND = 3


@dataclass(frozen=True)
class Judgement:
    """`violations` has the kinds that were found, and how often. The others are measures, in seconds, by URL name."""

    violations: dict[str, int]
    examples: list[str]
    counts: dict[str, int]
    gap: dict[str, float]
    red_after: dict[str, float]
    green_after: dict[str, float]
    slowest_answer: float

    @property
    def is_clean(self) -> bool:
        return not self.violations

    def as_json(self) -> dict[str, Any]:
        return _rounded(asdict(self))


async def judge(
    journal: Path, world: Path, received: Path, database_url: str, *, fault_at: float | None = None
) -> Judgement:
    """Judge the run of this journal. The gaps are those that end after the fault."""
    run, its_world = Journal.read(journal), World.read(world)
    cards = sorted({scan.card for scan in run.scans.values()})
    db = factory.database(database_url, deadline=READ_WITHIN, name="judge")
    try:
        rows = await tables.read(db, its_world, cards, list(run.scans))
    finally:
        await db.close()
    # The receiver has written every message that the queue no longer holds.
    heard = read_received(received)
    times = timing.measure(run, fault_at)
    found = [
        *exactness.violations(run, rows, its_world),
        *messages.violations(run, rows, heard),
        *times.violations,
    ]
    by_kind = Counter[str](one.kind for one in found)
    return Judgement(
        violations=dict(by_kind),
        examples=[
            f"{kind}: {what}"
            for kind in by_kind
            for what in [one.what for one in found if one.kind == kind][:EXAMPLES_OF_A_KIND]
        ],
        counts=_counts(run, heard),
        gap=times.gap,
        red_after=times.red_after,
        green_after=times.green_after,
        slowest_answer=times.slowest_answer,
    )


def _counts(run: Journal, heard: list[Received]) -> dict[str, int]:
    scans = [one for one in run.attempts if one.key is not None]
    definite = [one for one in scans if is_definite(one)]
    told = Counter(id for page in run.pages for id in page.ids)
    sent = Counter(one.id for one in heard)
    return {
        "scans": len(run.scans),
        "attempts": len(scans),
        "activations": len({one.key for one in definite if one.status == 200}),
        "conflicts": len({one.key for one in definite if one.status == 409}),
        "replays": sum(one.replayed for one in definite),
        **{f"answered 503 {code}": n for code, n in Counter(one.code for one in scans if one.status == 503).items()},
        **{f"not answered {why}": n for why, n in Counter(one.error for one in scans if one.error).items()},
        "told by the feed": len(told),
        "told again by the feed": sum(told.values()) - len(told),
        "webhooks received": len(sent),
        "webhooks received again": sum(sent.values()) - len(sent),
        **{
            f"silent seconds of {name}": round(sum(one.end - one.begin for one in run.silences if one.url == name))
            for name in run.started.urls
        },
    }


def _rounded(value: Any) -> Any:
    match value:
        case float():
            return round(value, 3)
        case dict():
            return {name: _rounded(one) for name, one in value.items()}
        case list():
            return [_rounded(one) for one in value]
        case _:
            return value


if __name__ == "__main__":
    judged = asyncio.run(judge(Path(sys.argv[1]), Path(sys.argv[2]), Path(sys.argv[3]), sys.argv[4]))
    print(json.dumps(judged.as_json(), indent=2))
    sys.exit(0 if judged.is_clean else 1)
