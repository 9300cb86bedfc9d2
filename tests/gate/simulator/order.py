"""The order in which the service took the uploads that came together: one must explain every answer.

Entries of a gate come in their order, those of different gates in any. Only the order of entries of the same card
matters. Trying all orders would take too long, so the likely ones are tried first, and then others by chance.
"""

import random
from collections.abc import Sequence
from copy import deepcopy
from typing import Final

from tests.gate.simulator.model import ACTIVATED, DUPLICATE, Model
from tests.gate.simulator.records import Entry, Result

MOST_ORDERS: Final = 300

Said = tuple[Entry, Result]


def explained(model: Model, said: Sequence[Sequence[Said]]) -> Model | Said:
    """The model after an order that explains these, by gate; or else an entry that none explains."""
    stuck: Said | None = None
    for turn in range(MOST_ORDERS):
        after = deepcopy(model)
        stuck = _take(after, [list(some) for some in said if some], random.Random(turn))
        if stuck is None:
            return after
    assert stuck is not None
    return stuck


def _take(model: Model, waiting: list[list[Said]], chance: random.Random) -> Said | None:
    """Give them to the model, one after another; the first for which there is no good turn."""
    while waiting:
        chance.shuffle(waiting)
        fitting = [some for some in waiting if model.judge(some[0][0]) == some[0][1]]
        if not fitting:
            return waiting[0][0]
        chosen = next((some for some in fitting if _is_due(some[0], waiting)), fitting[0])
        model.upload(chosen.pop(0)[0])
        waiting = [some for some in waiting if some]
    return None


def _is_due(one: Said, waiting: list[list[Said]]) -> bool:
    """Whether no entry of the same card is likely to have come earlier."""
    return not any(
        other[0].shown.card == one[0].shown.card and _stage(other) < _stage(one) for some in waiting for other in some
    )


def _stage(said: Said) -> int:
    """What was refused for another reason came before the ticket was used, and what was a mere duplicate after it."""
    _, result = said
    if result.outcome == ACTIVATED:
        return 2
    if result.kinds == frozenset({DUPLICATE}):
        return 3
    return 1 if DUPLICATE in result.kinds else 0
