"""What a run says: a table beside the usual figures, what was left out, and the sum of all tests as its last line."""

import os
from collections.abc import Mapping, Sequence

from tools.suites.plan import Plan
from tools.suites.record import Outcome, Record


def machine(additions: float) -> str:
    load = ", ".join(f"{one:.1f}" for one in os.getloadavg())
    return f"Five million additions take {additions:.2f} s here (budgets are said for 0.65 s); load {load}."


def one_line(name: str, outcome: Outcome) -> str:
    ended = "passed" if outcome.code == 0 else f"FAILED ({outcome.code})"
    return f"=== {name} {ended}: {outcome.wall:.0f} s, {outcome.cpu:.0f} s of CPU"


def table(outcomes: Mapping[str, Outcome], usual: Mapping[str, Outcome]) -> str:
    """Seconds, and behind them the usual ones."""
    rows: list[tuple[str, ...]] = [("suite", "s", "usual", "CPU s", "usual", "tests", "usual", "failed", "skipped")]
    for name, ran in outcomes.items():
        rows.append(_row(name, ran, usual.get(name)))
    rows.append(_row("all", _sum(list(outcomes.values())), None))
    widths = [max(len(row[column]) for row in rows) for column in range(len(rows[0]))]
    return "\n".join(
        "  ".join(
            cell.ljust(width) if not column else cell.rjust(width)
            for column, (cell, width) in enumerate(zip(row, widths, strict=True))
        )
        for row in rows
    )


def left_out(plan: Plan, record: Record) -> str:
    """Every suite that was not run, with the commit at which the night last ran it."""
    lines = [
        f"  {suite.name}: "
        + (
            f"last run whole at {ran.commit}, {ran.at}"
            if (ran := record.night.get(suite.name))
            else "never run by the night"
        )
        for suite in plan.left_out
    ]
    drawn = [f"Drawn by the tree's hash, though nothing it reads has changed: {plan.drawn.name}."] if plan.drawn else []
    said = ["Left out, for nothing that they read has changed:", *lines] if lines else ["No suite was left out."]
    return "\n".join([*drawn, *said])


def closing_line(outcomes: Sequence[Outcome]) -> str:
    """Failures of a suite that is no test runner, such as a linter, count as one."""
    total = _sum(outcomes)
    others = sum(1 for one in outcomes if one.code and not one.failed)
    return f"{total.passed} passed, {total.failed + others} failed, {total.skipped} skipped"


def _row(name: str, ran: Outcome, usual: Outcome | None) -> tuple[str, ...]:
    return (
        name,
        f"{ran.wall:.0f}",
        f"{usual.wall:.0f}" if usual else "",
        f"{ran.cpu:.0f}",
        f"{usual.cpu:.0f}" if usual else "",
        str(ran.passed or ""),
        str(usual.passed or "") if usual else "",
        "FAILED" if ran.code and not ran.failed else str(ran.failed or ""),
        str(ran.skipped or ""),
    )


def _sum(outcomes: Sequence[Outcome]) -> Outcome:
    """Its wall time is that of all, one after the other."""
    return Outcome(
        "", "", max((one.code for one in outcomes), default=0),
        sum(one.wall for one in outcomes), sum(one.cpu for one in outcomes),
        sum(one.passed for one in outcomes), sum(one.failed for one in outcomes), sum(one.skipped for one in outcomes),
    )  # fmt: skip
