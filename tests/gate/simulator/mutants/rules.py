"""A fault for each rule: without it the service, or a gate, must be found out by the simulator.

A fault of a routine is a text of it that is replaced in the database; that of a gate is a name of the SDK with another
meaning. `service.py` has those of the service's Python.
"""

from dataclasses import dataclass
from typing import Any, Final

from gatepass_sdk._gate import decision, manifest, rules, scanner
from gatepass_sdk._gate.storage import journal
from tests.gate.simulator import seeds
from tests.gate.simulator.mutants.name_mutant import NameMutant


@dataclass(frozen=True)
class RoutineMutant:
    rule: str
    routine: str
    replaced: tuple[tuple[str, str], ...]


def routine(rule: str, routine: str, *replaced: tuple[str, str]) -> RoutineMutant:
    return RoutineMutant(rule, routine, replaced)


ROUTINES: Final = (
    routine(
        "a ticket is activated once",
        "judge_scans",
        ("AND x.activated_at IS NULL", ""),
        ("AND t.activated_at IS NULL", ""),
    ),
    routine(
        "a cancelled ticket opens nothing",
        "judge_scans",
        ("AND x.cancelled_at IS NULL\n", "\n"),
        ("AND t.cancelled_at IS NULL", ""),
    ),
    routine("a suspended or revoked card opens nothing", "judge_scans", ("AND c.status = 'active'", "")),
    routine("the doors open at their time", "judge_scans", ("event.doors_open_at <= i.shown_at", "true")),
    routine("a category has a beginning", "judge_scans", ("category.valid_from <= i.shown_at", "true")),
    routine(
        "a category has an end, and not a moment later",
        "judge_scans",
        ("category.valid_until > i.shown_at", "category.valid_until + late > i.shown_at"),
    ),
    routine("a category has its gates", "judge_scans", ("i.gate = ANY (category.gates)", "true")),
    routine("a code expires", "judge_scans", ("AND NOT i.expired", "")),
    routine(
        "an event that has ended takes scans from before its end",
        "judge_scans",
        (".status = 'ended' AND i.occurred_at", ".status = 'never' AND i.occurred_at"),
    ),
    routine(
        "what was shown after the end is too late",
        "judge_scans",
        ("i.occurred_at < event.ended_at AND", ""),
        ("i.occurred_at < e.ended_at AND", ""),
    ),
    routine("every try is one scan", "decided_entries", ("t.activation_key = i.idempotency_key OR", "")),
    routine("an entry is taken once", "decided_entries", ("WHEN same.content IS NOT NULL", "WHEN false")),
    routine("a sequence has one content", "decided_entries", ("WHEN same.content <> i.content", "WHEN false")),
    routine(
        "who was refused at the door uses no ticket",
        "take_entries",
        ('WHEN NOT i.admitted THEN \'{"held": "refused_by_device"}\'', "WHEN false THEN '{}'"),
    ),
    routine(
        "a try that comes after its upload uses no ticket",
        "close_keys",
        ("r.outcome = 'recorded'", "r.outcome = 'never'"),
    ),
    routine("numbers that are typed too fast use no ticket", "take_entries", ("'2 seconds'", "'0 seconds'")),
    routine("what was admitted is an incident, not a refusal", "incident_kind", ("THEN 'suspended'", "THEN NULL")),
    routine("a second admission is found in the record", "take_entries", ("(f.had_before OR f.follows)", "f.follows")),
    routine(
        "a second admission is found in the same upload",
        "take_entries",
        ("(f.had_before OR f.follows)", "f.had_before"),
    ),
    routine(
        "an admission that uses no ticket is remembered",
        "record_entries",
        ("SET admitted_at = p_at", "SET admitted_at = NULL"),
    ),
    routine(
        "a scan that is the second admission is reported",
        "open_second_admissions",
        ("PERFORM open_incidents", "PERFORM count"),
    ),
)


def without_used_here(*arguments: Any, is_used_here: bool) -> decision.Decision:
    return decision.decide(*arguments, is_used_here=is_used_here and False)


def without_window(category: rules.CategoryRules | None, moment: Any, gate: str | None) -> str | None:
    return "wrong_gate" if category and category.gates is not None and gate not in category.gates else None


def without_gates(category: rules.CategoryRules | None, moment: Any, gate: str | None) -> str | None:
    is_early = category and category.valid_from is not None and moment < category.valid_from
    is_late = category and category.valid_until is not None and moment >= category.valid_until
    return "outside_window" if is_early or is_late else None


def without_doors(event: rules.EventRules | None, moment: Any, received_at: Any) -> str | None:
    return None if event and event.status == "published" else "event_not_active"


def nothing(*_: Any, **__: Any) -> None:
    return None


def believed(*_: Any) -> bool:
    return True


GATE: Final = (
    NameMutant("a gate knows whom it let in", scanner, "decide", without_used_here),
    NameMutant("a gate knows who used a ticket elsewhere", manifest, "USED", 0),
    NameMutant("a gate knows who is suspended", manifest, "SUSPENDED", 0),
    NameMutant("a gate knows who is revoked", manifest, "REVOKED", 0),
    NameMutant("a gate knows the times of a category", rules, "_of_category", without_window),
    NameMutant("a gate knows the gates of a category", rules, "_of_category", without_gates),
    NameMutant("a gate knows when the doors open", rules, "_of_event", without_doors),
    NameMutant("a gate knows when a code ends", rules, "_of_code", nothing),
    NameMutant("a gate verifies signatures", seeds, "verified_by_libsodium", believed),
    NameMutant("an event may stop its gates", decision, "STOP", "never"),
    NameMutant("an event may trust signatures", decision, "SIGNATURE", "never"),
    NameMutant("a guest who is shown again repeats the try", journal.Journal, "unsettled", nothing),
)
