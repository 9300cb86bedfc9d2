"""What happens in one run: gates, cards, and one step after another. Times are milliseconds since the opening.

A scenario is drawn from a seed and nothing else, so that a run that failed can be run again.
"""

from dataclasses import dataclass
from enum import StrEnum
from typing import TypeAlias


class Way(StrEnum):
    """What is held under the reader."""

    TOKEN = "token"
    NUMBER = "typed number"
    SHORT_TOKEN = "token that ends soon"
    FORGED = "forged token"


class Network(StrEnum):
    """What becomes of the request of a scan. A gate that gets no answer decides by itself."""

    ONLINE = "online"
    OFFLINE = "offline"
    REQUEST_LOST = "request lost"
    ANSWER_LOST = "answer lost"
    # It arrives much later, perhaps after the gate has uploaded what it decided.
    LATE = "late"


class Policy(StrEnum):
    """Whom an event lets in at a gate without a network."""

    MANIFEST = "manifest"
    SIGNATURE = "signature"
    STOP = "stop"


class Change(StrEnum):
    """What people do meanwhile."""

    SUSPEND = "suspend"
    REACTIVATE = "reactivate"
    REVOKE = "revoke"
    CANCEL = "cancel"
    ISSUE = "issue"
    LET_IN = "let in"


@dataclass(frozen=True)
class Category:
    name: str
    valid_from: int | None = None
    valid_until: int | None = None
    gates: tuple[str, ...] | None = None


@dataclass(frozen=True)
class Gate:
    """`clock_ms` is how far the device's clock is ahead."""

    name: str
    clock_ms: int


@dataclass(frozen=True)
class Show:
    """A card is held under the reader of a gate. Below zero are numbers that nobody issued.

    With `is_waved` a steward lets the guest in whatever the screen says.
    """

    at: int
    gate: int
    card: int
    way: Way
    network: Network
    is_waved: bool = False


@dataclass(frozen=True)
class Race:
    """The same card at several gates in the same moment, all online."""

    shows: tuple[Show, ...]


@dataclass(frozen=True)
class Arrival:
    """The oldest late request of this gate arrives after all."""

    gate: int


@dataclass(frozen=True)
class Heartbeat:
    """The service measures the clock of the device. Until then it is believed."""

    gate: int


@dataclass(frozen=True)
class Follow:
    """The gate fetches the manifest, or what has changed in it."""

    gate: int


@dataclass(frozen=True)
class Upload:
    """Gates send what waits in their journals, all at once if there are several.

    Each sends `most` entries a call, the last ones first if `backwards`, and again all of it if the answer is lost.
    """

    gates: tuple[int, ...]
    most: int = 500
    backwards: bool = False
    answer_lost: bool = False


@dataclass(frozen=True)
class Forgery:
    """Somebody without the key of the device sends an entry in its name, or another entry under a used sequence."""

    gate: int
    card: int
    reuses_sequence: bool


@dataclass(frozen=True)
class Alteration:
    """People change a card or its ticket, or let its holder in."""

    change: Change
    card: int


@dataclass(frozen=True)
class NewRules:
    """People change when and where the tickets of a category are good."""

    category: int
    rules: Category


@dataclass(frozen=True)
class Death:
    """The device is broken for good. What waits in its journal is lost with it."""

    gate: int


@dataclass(frozen=True)
class Theft:
    """The device is revoked. With `is_found` it is paired again with the key that it kept."""

    gate: int
    is_found: bool


@dataclass(frozen=True)
class Retirement:
    """The device may only upload from now on."""

    gate: int


@dataclass(frozen=True)
class Night:
    """A day or two pass for the service, so that it has forgotten the answers under the keys of retries."""


@dataclass(frozen=True)
class End:
    """The event ended at this time; gates without a network went on."""

    at: int


Step: TypeAlias = (
    Show
    | Race
    | Arrival
    | Heartbeat
    | Follow
    | Upload
    | Forgery
    | Alteration
    | NewRules
    | Death
    | Theft
    | Retirement
    | Night
    | End
)


@dataclass(frozen=True)
class Scenario:
    """`cards` has the category of each card's ticket; None: it has no ticket."""

    seed: int
    policy: Policy
    doors_open: int | None
    categories: tuple[Category, ...]
    cards: tuple[int | None, ...]
    gates: tuple[Gate, ...]
    steps: tuple[Step, ...]

    @property
    def scans(self) -> int:
        """How often a card is shown."""
        return sum(len(step.shows) if isinstance(step, Race) else isinstance(step, Show) for step in self.steps)
