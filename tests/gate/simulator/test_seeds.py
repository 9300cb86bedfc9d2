"""Gates that lose the network, through the real service: the service and the gates do what the model says.

`make gate-full` runs 1,000 seeds. Here a few are run, others each day, and every day the first ones.
"""

from datetime import UTC, datetime

from tests.gate.simulator.seeds import run_seeds
from tests.gate.simulator.stack import Stack

FIRST = range(1, 5)
# Beyond those of `make gate-full`.
DRAWN = 10_000
OTHERS = 4
AT_ONCE = 4


def seeds_of_today() -> list[int]:
    day = datetime.now(UTC).date().toordinal()
    return [*FIRST, *range(DRAWN + OTHERS * day, DRAWN + OTHERS * (day + 1))]


async def test_the_service_and_the_gates_do_what_the_model_says(stack: Stack) -> None:
    seeds = seeds_of_today()
    outcomes = [outcome async for outcome in run_seeds(stack, seeds, at_once=AT_ONCE)]
    assert [outcome.violation for outcome in outcomes if outcome.violation] == []
    assert sorted(outcome.seed for outcome in outcomes) == sorted(seeds)
    figures = [outcome.figures for outcome in outcomes if outcome.figures]
    assert sum(one.offline for one in figures) > 40 * len(seeds)
    assert sum(one.incidents for one in figures) > sum(one.doubles for one in figures) > len(seeds)
