"""The rules at the gate, in the order in which the service judges them: the first that fails is the verdict.

Pure: the moment is an argument, and nothing is looked up. `sdk/cases/rules.json` has cases that the service's statement
and this function answer alike.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final

ACTIVATED: Final = "activated"
# So long after its end an event still takes scans from before it.
LATE: Final = timedelta(hours=72)


@dataclass(frozen=True, slots=True)
class EventRules:
    """`doors_open_at` None: open since it was published. `codes`: `any`, or those that a phone made, `phone`."""

    status: str
    doors_open_at: datetime | None = None
    codes: str = "any"
    ended_at: datetime | None = None


@dataclass(frozen=True, slots=True)
class CategoryRules:
    """When and where its tickets open the gate. None: always, everywhere."""

    valid_from: datetime | None = None
    valid_until: datetime | None = None
    gates: tuple[str, ...] | None = None


@dataclass(frozen=True, slots=True)
class Flags:
    """What is known of a card. `ticket`: it has one that is not cancelled. `cancelled`: it had one that is."""

    ticket: bool
    used: bool = False
    suspended: bool = False
    revoked: bool = False
    cancelled: bool = False


def judge(
    event: EventRules | None,
    category: CategoryRules | None,
    flags: Flags | None,
    *,
    moment: datetime,
    gate: str | None,
    expired: bool,
    dynamic: bool,
    received_at: datetime | None = None,
) -> str:
    """The verdict on a card that was shown at this moment: `activated`, or the code of the refusal.

    `expired` is what its token or its phone's certificate says, `dynamic` that nobody can lend the code. `received_at`
    is when the service judged it, if it was sent later.
    """
    failed = (
        _of_event(event, moment, received_at)
        or _of_code(event, expired=expired, dynamic=dynamic)
        or _of_card(flags)
        or _of_category(category, moment, gate)
    )
    return failed or ACTIVATED


def _of_event(event: EventRules | None, moment: datetime, received_at: datetime | None) -> str | None:
    if event is None:
        return "event_not_found"
    if event.status != "published" and not _takes_late(event, moment, received_at):
        return "event_not_active"
    if event.doors_open_at is not None and moment < event.doors_open_at:
        return "doors_closed"
    return None


def _takes_late(event: EventRules, moment: datetime, received_at: datetime | None) -> bool:
    if event.status != "ended" or event.ended_at is None or received_at is None:
        return False
    return moment < event.ended_at and received_at < event.ended_at + LATE


def _of_code(event: EventRules | None, *, expired: bool, dynamic: bool) -> str | None:
    if expired:
        return "expired"
    return "static_code_refused" if event is not None and event.codes != "any" and not dynamic else None


def _of_card(flags: Flags | None) -> str | None:
    return "card_not_found" if flags is None else next(_card_problems(flags), None)


def _card_problems(flags: Flags) -> Iterator[str]:
    if flags.suspended:
        yield "card_suspended"
    if flags.revoked:
        yield "card_revoked"
    if not flags.ticket:
        yield "ticket_cancelled" if flags.cancelled else "ticket_not_found"
    if flags.used:
        yield "already_activated"


def _of_category(category: CategoryRules | None, moment: datetime, gate: str | None) -> str | None:
    if category is None:
        return None
    is_early = category.valid_from is not None and moment < category.valid_from
    if is_early or (category.valid_until is not None and moment >= category.valid_until):
        return "outside_window"
    return "wrong_gate" if category.gates is not None and gate not in category.gates else None
