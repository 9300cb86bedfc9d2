"""Write sdk/cases/rules.json: scans, good and bad, that every implementation of the rules must answer alike.

A fault spoils a good scan in one way, and has a verdict. Two faults have the verdict of the one that is judged first,
so that the pairs show the order. What lies exactly on the edge of a rule is written out below.
"""

import json
from collections.abc import Callable, Iterator
from copy import deepcopy
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from itertools import combinations
from pathlib import Path
from typing import Any, Final

Json = dict[str, Any]

FILE: Final = Path(__file__).parent.parent / "sdk" / "cases" / "rules.json"
# When the scan is judged. Every other time is so much before or after it.
NOW: Final = datetime(2030, 6, 15, 20, 0, tzinfo=UTC)
TICK: Final = timedelta(microseconds=1)
HOUR: Final = timedelta(hours=1)
LATE: Final = timedelta(hours=72)
ORDER: Final = (
    "event_not_found", "event_not_active", "doors_closed", "expired", "static_code_refused", "card_not_found",
    "card_suspended", "card_revoked", "ticket_not_found", "ticket_cancelled", "already_activated", "outside_window",
    "wrong_gate", "activated",
)  # fmt: skip


def at(offset: timedelta) -> str:
    return (NOW + offset).isoformat(timespec="microseconds").replace("+00:00", "Z")


LONG_AGO: Final = at(-99 * HOUR)

# `code`: a typed `number`, a `token`, a `fresh` token that ends within two minutes, or a `phone`'s own code; with the
# number of that phone. A card has the number of the phone that is enrolled. `ticket`: the states of its tickets.
GOOD: Final[Json] = {
    "event": {"status": "published", "ends_at": at(3 * HOUR), "ended_at": None, "doors_open_at": None, "codes": "any"},
    "category": {"valid_from": None, "valid_until": None, "gates": None},
    "card": {"status": "active", "phone": 0},
    "ticket": {"states": ["issued"]},
    "scan": {
        "at": at(timedelta()), "occurred_at": None, "gate": "North 1",
        "code": "number", "expired": False, "phone": None,
    },
}  # fmt: skip


@dataclass(frozen=True)
class Fault:
    """`part` is what it changes: two faults of one part exclude each other."""

    name: str
    part: str
    verdict: str
    change: Callable[[Json], object]


def ended(case: Json, ended_at: timedelta, occurred_at: timedelta | None) -> None:
    case["event"] |= {"status": "ended", "ends_at": at(ended_at - HOUR), "ended_at": at(ended_at)}
    case["scan"]["occurred_at"] = None if occurred_at is None else at(occurred_at)


def phone(case: Json, enrolled: int, shown: int) -> None:
    case["scan"] |= {"code": "phone", "phone": shown}
    if case["card"] is not None:
        case["card"]["phone"] = enrolled


def phones_only(case: Json) -> None:
    if case["event"] is not None:
        case["event"]["codes"] = "phone"


def states(case: Json, *found: str) -> None:
    if case["card"] is not None:
        case["ticket"] = {"states": list(found)} if found else None


def no_gate(case: Json) -> None:
    case["category"]["gates"] = ["North 1"]
    case["scan"]["gate"] = None


FAULTS: Final = (
    Fault("no such event", "event", "event_not_found", lambda case: case.update(event=None)),
    Fault("a draft", "event", "event_not_active", lambda case: case["event"].update(status="draft")),
    Fault("a cancelled event", "event", "event_not_active", lambda case: case["event"].update(status="cancelled")),
    Fault("an ended event", "event", "event_not_active", lambda case: ended(case, -HOUR, None)),
    Fault("shown after the end", "event", "event_not_active", lambda case: ended(case, -2 * HOUR, -HOUR)),
    Fault("sent too late", "event", "event_not_active", lambda case: ended(case, -LATE - HOUR, -LATE - 2 * HOUR)),
    Fault("closed doors", "doors", "doors_closed", lambda case: case["event"].update(doors_open_at=at(HOUR))),
    Fault("an expired token", "code", "expired", lambda case: case["scan"].update(code="token", expired=True)),
    Fault("a phone that has ended", "code", "expired", lambda case: phone(case, enrolled=3, shown=2)),
    Fault("a typed number where phones are wanted", "code", "static_code_refused", phones_only),
    Fault("no such card", "card", "card_not_found", lambda case: case.update(card=None, ticket=None)),
    Fault("a suspended card", "card", "card_suspended", lambda case: case["card"].update(status="suspended")),
    Fault("a revoked card", "card", "card_revoked", lambda case: case["card"].update(status="revoked")),
    Fault("no ticket", "ticket", "ticket_not_found", states),
    Fault("a cancelled ticket", "ticket", "ticket_cancelled", lambda case: states(case, "cancelled")),
    Fault("a used ticket", "ticket", "already_activated", lambda case: states(case, "activated")),
    Fault("before its time", "window", "outside_window", lambda case: case["category"].update(valid_from=at(HOUR))),
    Fault("after its time", "window", "outside_window", lambda case: case["category"].update(valid_until=LONG_AGO)),
    Fault("another gate", "gate", "wrong_gate", lambda case: case["category"].update(gates=["South", "East"])),
    Fault("no gate", "gate", "wrong_gate", no_gate),
)  # fmt: skip


def cases() -> list[Json]:
    found = [case("a good scan", "activated")]
    found += [spoiled(fault) for fault in FAULTS]
    found += [spoiled(*pair) for pair in combinations(FAULTS, 2) if pair[0].part != pair[1].part and _possible(*pair)]
    found += [*_of_doors(), *_of_windows(), *_of_gates(), *_of_ends(), *_of_codes(), *_of_tickets()]
    return found


def _possible(*faults: Fault) -> bool:
    """An event that there is not has no doors; of a card that there is not, no phone can have ended."""
    names = {fault.name for fault in faults}
    return names not in ({"no such event", "closed doors"}, {"no such card", "a phone that has ended"})


def spoiled(*faults: Fault) -> Json:
    verdict = min((fault.verdict for fault in faults), key=ORDER.index)
    return case(" and ".join(fault.name for fault in faults), verdict, *(fault.change for fault in faults))


def case(name: str, verdict: str, *changes: Callable[[Json], object], **parts: Json) -> Json:
    """A good scan with these parts and changes."""
    made = deepcopy(GOOD)
    for part, fields in parts.items():
        made[part] |= fields
    for change in changes:
        change(made)
    return {"name": name, **made, "verdict": verdict}


def _of_doors() -> Iterator[Json]:
    for offset, verdict in ((-TICK, "activated"), (timedelta(), "activated"), (TICK, "doors_closed")):
        doors = {"doors_open_at": at(offset)}
        yield case(f"doors {offset / TICK:+.0f} microseconds from now", verdict, event=doors)
        doors = {"doors_open_at": at(offset - HOUR)}
        name = f"doors {offset / TICK:+.0f} microseconds from when it was shown, an hour ago"
        yield case(name, verdict, event=doors, scan={"occurred_at": at(-HOUR)})
    shown_early = {"occurred_at": at(-2 * HOUR)}
    yield case(
        "shown before the doors, sent after", "doors_closed", event={"doors_open_at": at(-HOUR)}, scan=shown_early
    )
    ahead = {"occurred_at": at(timedelta(minutes=2))}
    yield case("a clock ahead of ours, doors between", "activated", event={"doors_open_at": at(TICK)}, scan=ahead)


def _of_windows() -> Iterator[Json]:
    edges = (-TICK, timedelta(), TICK)
    for field, verdicts in (
        ("valid_from", ("activated", "activated", "outside_window")),
        ("valid_until", ("outside_window", "outside_window", "activated")),
    ):
        for offset, verdict in zip(edges, verdicts, strict=True):
            name = f"{field} {offset / TICK:+.0f} microseconds from"
            yield case(f"{name} now", verdict, category={field: at(offset)})
            shown = {"occurred_at": at(-HOUR)}
            yield case(f"{name} when it was shown", verdict, category={field: at(offset - HOUR)}, scan=shown)
    both = {"valid_from": at(-HOUR), "valid_until": at(HOUR)}
    yield case("within its time", "activated", category=both)
    yield case("within its time, shown before it", "outside_window", category=both, scan={"occurred_at": at(-2 * HOUR)})
    yield case("within its time when shown, sent after it", "activated", category={
        "valid_from": at(-3 * HOUR), "valid_until": at(-HOUR)}, scan={"occurred_at": at(-2 * HOUR)})  # fmt: skip
    yield case("the shortest time, now", "activated", category={"valid_from": at(timedelta()), "valid_until": at(TICK)})


def _of_gates() -> Iterator[Json]:
    for name, gates, gate, verdict in (
        ("the only gate of the list", ["North 1"], "North 1", "activated"),
        ("the last of fifty gates", [f"Gate {number}" for number in range(1, 51)], "Gate 50", "activated"),
        ("none of fifty gates", [f"Gate {number}" for number in range(1, 51)], "Gate 51", "wrong_gate"),
        ("another case", ["north 1"], "North 1", "wrong_gate"),
        ("a space behind", ["North 1"], "North 1 ", "wrong_gate"),
        ("a space less", ["North 1"], "North1", "wrong_gate"),
        ("the beginning of a gate's name", ["North 12"], "North 1", "wrong_gate"),
        ("an empty gate", ["North 1"], "", "wrong_gate"),
        ("a gate with an accent", ["Entrée"], "Entrée", "activated"),
        ("an accent of its own character", ["Entre\u0301e"], "Entrée", "wrong_gate"),
        ("a gate in another script", ["北門"], "北門", "activated"),
        ("a gate with a comma and quotes", ['"A", {B}'], '"A", {B}', "activated"),
        ("a gate called NULL", ["NULL"], None, "wrong_gate"),
        ("a gate called NULL, shown there", ["NULL"], "NULL", "activated"),
        ("no gate, and no list", None, None, "activated"),
        ("a gate of 64 characters", ["g" * 64], "g" * 64, "activated"),
    ):
        yield case(name, verdict, category={"gates": gates}, scan={"gate": gate})


def _of_ends() -> Iterator[Json]:
    for name, ended_at, shown, verdict in (
        ("shown before the end, sent after it", -HOUR, -2 * HOUR, "activated"),
        ("shown at the end", -HOUR, -HOUR, "event_not_active"),
        ("shown a microsecond before the end", -HOUR, -HOUR - TICK, "activated"),
        ("sent 72 hours after the end", -LATE, -LATE - HOUR, "event_not_active"),
        ("sent a microsecond before 72 hours have passed", -LATE + TICK, -LATE - HOUR, "activated"),
        ("sent at the end", timedelta(), -HOUR, "activated"),
    ):
        yield case(name, verdict, lambda made, end=ended_at, when=shown: ended(made, end, when))
    shown = {"occurred_at": at(-2 * HOUR)}
    unknown_end = {"status": "ended", "ended_at": None}
    yield case("an end that nobody noted: before ends_at", "activated", event={
        **unknown_end, "ends_at": at(-HOUR)}, scan=shown)  # fmt: skip
    yield case("an end that nobody noted: after ends_at", "event_not_active", event={
        **unknown_end, "ends_at": at(-3 * HOUR)}, scan=shown)  # fmt: skip
    yield case("an end that nobody noted, and ends_at to come", "event_not_active", event={
        **unknown_end, "ends_at": at(HOUR)})  # fmt: skip
    for status in ("draft", "cancelled"):
        name = f"a {status} event, whatever it says of its end"
        yield case(name, "event_not_active", event={"status": status, "ended_at": at(-HOUR)}, scan=shown)
    yield case("late, and before the doors", "doors_closed", lambda made: ended(made, -HOUR, -3 * HOUR), event={
        "doors_open_at": at(-2 * HOUR)})  # fmt: skip
    yield case("late, and before its time", "outside_window", lambda made: ended(made, -HOUR, -3 * HOUR), category={
        "valid_from": at(-2 * HOUR)})  # fmt: skip
    yield case("past ends_at, and not ended yet", "activated", event={"ends_at": at(-HOUR)})


def _of_codes() -> Iterator[Json]:
    wants_phones = {"codes": "phone"}
    yield case("a good token", "activated", scan={"code": "token"})
    yield case("a phone's own code", "activated", lambda made: phone(made, 2, 2))
    yield case("a phone's own code where it is wanted", "activated", lambda made: phone(made, 2, 2), event=wants_phones)
    yield case(
        "a token that ends soon where phones are wanted", "activated", event=wants_phones, scan={"code": "fresh"}
    )
    yield case("a token for long where phones are wanted", "static_code_refused", event=wants_phones, scan={
        "code": "token"})  # fmt: skip
    yield case("an expired token where phones are wanted", "expired", event=wants_phones, scan={
        "code": "token", "expired": True})  # fmt: skip
    yield case("a phone's code of an unknown card", "card_not_found", lambda made: phone(made, 0, 2), lambda made: (
        made.update(card=None, ticket=None)))  # fmt: skip
    yield case("an ended phone of a suspended card", "expired", lambda made: phone(made, 3, 2), card={
        "status": "suspended"})  # fmt: skip
    yield case("a phone of a card that has none", "expired", lambda made: phone(made, 0, 1))


def _of_tickets() -> Iterator[Json]:
    for found, verdict in (
        (["cancelled", "issued"], "activated"),
        (["cancelled", "activated"], "already_activated"),
        (["cancelled", "cancelled"], "ticket_cancelled"),
    ):
        yield case(f"tickets: {', '.join(found)}", verdict, ticket={"states": found})


def written() -> str:
    return json.dumps({"cases": cases()}, indent=1, ensure_ascii=True) + "\n"


if __name__ == "__main__":
    FILE.write_text(written())
