"""What a fault is: a function that breaks something, yields, and mends it."""

from collections.abc import Callable, Generator
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from typing import TypeAlias

from tests.ha.lab.cluster import Node
from tests.ha.lab.lab import WAYS, Lab

Breaking: TypeAlias = Callable[[Lab, Node], Generator[None]]

# The longest gap that is wanted, in seconds.
UNNOTICED = 1.0
PROCESS = 3.0
MACHINE = 25.0
# After that long nothing comes back by itself.
HOLD_AT_MOST = 45.0


@dataclass(frozen=True)
class Kind:
    name: str
    # In words, for the table.
    what: str
    break_: Callable[[Lab, Node], AbstractContextManager[None]]
    # The longest gap, from the fault on; or from the mending on, if nothing can be done before.
    bound: float
    from_mending: bool
    # The least time that it lasts. It then lasts until scans flow again.
    hold: float
    # It lasts until another node is the primary.
    moves: bool
    # The ways that do not work before it is mended.
    stops: tuple[str, ...]
    # The nodes that it may take away, of three: two at once are no majority.
    takes: int
    # Violations that say nothing about this kind; beside each is why.
    allows: tuple[str, ...]
    # What it breaks, so that two faults of a pair do not undo each other.
    part: str

    @property
    def seconds(self) -> float:
        """About how long a round takes."""
        return 22.0 + (24.0 if self.moves and self.bound == MACHINE else self.hold)


KINDS: dict[str, Kind] = {}


def kind(
    *,
    bound: float,
    part: str,
    hold: float = 3.0,
    from_mending: bool = False,
    moves: bool = False,
    stops: tuple[str, ...] = (),
    takes: int = 0,
    allows: tuple[str, ...] = (),
) -> Callable[[Breaking], Breaking]:
    """The function's name is that of the kind, its docstring the words for it. It gets the lab and the primary."""

    def register(breaking: Breaking) -> Breaking:
        name = breaking.__name__.replace("_", "-")
        what = (breaking.__doc__ or "").strip().rstrip(".")
        stopped = WAYS if from_mending and not stops else stops
        KINDS[name] = Kind(
            name, what, contextmanager(breaking), bound, from_mending, hold, moves, stopped, takes, allows, part
        )  # fmt: skip
        return breaking

    return register
