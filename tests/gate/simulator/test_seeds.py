"""Gates that lose the network, through the real service: the service and the gates do what the model says.

`make gate-full` runs 1,000 seeds. Here the first ones are run, and a few that the tree draws; at night, chance.
"""

from tests.gate.simulator.seeds import run_seeds
from tests.gate.simulator.stack import Stack
from tests.size import seed_of_run, tree_hash

FIRST = range(1, 5)
# Beyond those of `make gate-full`.
DRAWN = 10_000
OTHERS = 4
MOST = 1_000_000
AT_ONCE = 4


def drawn_seeds() -> list[int]:
    first = DRAWN + OTHERS * (seed_of_run(int(tree_hash(), 16)) % MOST)
    print(f"seeds from {first}")
    return [*FIRST, *range(first, first + OTHERS)]


async def test_the_service_and_the_gates_do_what_the_model_says(stack: Stack) -> None:
    seeds = drawn_seeds()
    outcomes = [outcome async for outcome in run_seeds(stack, seeds, at_once=AT_ONCE)]
    assert [outcome.violation for outcome in outcomes if outcome.violation] == []
    assert sorted(outcome.seed for outcome in outcomes) == sorted(seeds)
    figures = [outcome.figures for outcome in outcomes if outcome.figures]
    assert sum(one.offline for one in figures) > 40 * len(seeds)
    assert sum(one.incidents for one in figures) > sum(one.doubles for one in figures) > len(seeds)
