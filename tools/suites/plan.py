"""What a submission runs and what it leaves out.

A suite is left out if nothing that it reads has changed since the base: the commit that is named, or else the one at
which the night last ran it whole. Of those that are left out, the tree's hash draws one that runs all the same.
"""

from dataclasses import dataclass

from tools.suites import revision
from tools.suites.record import Record
from tools.suites.suite import Suite, SuiteMap


@dataclass(frozen=True)
class Plan:
    chosen: list[Suite]
    left_out: list[Suite]
    drawn: Suite | None = None

    @property
    def runs(self) -> list[Suite]:
        return [*self.chosen, *([self.drawn] if self.drawn else [])]


def everything(suites: SuiteMap) -> Plan:
    return Plan(suites.submission, [])


def named(names: list[str], suites: SuiteMap) -> Plan:
    chosen = [next(suite for suite in suites.submission if suite.name == name) for name in names]
    return Plan(chosen, _rest(chosen, suites))


def since(base: str | None, suites: SuiteMap, record: Record) -> Plan:
    chosen = [suite for suite in suites.submission if _is_due(suite, base or record.last_night(suite.name), suites)]
    return _with_one_drawn(chosen, _rest(chosen, suites))


def of(paths: list[str], suites: SuiteMap) -> Plan:
    """For a change of just these paths."""
    chosen = [suite for suite in suites.submission if suites.is_chosen(suite, paths)]
    return Plan(chosen, _rest(chosen, suites))


def _rest(chosen: list[Suite], suites: SuiteMap) -> list[Suite]:
    return [suite for suite in suites.submission if suite not in chosen]


def _is_due(suite: Suite, base: str | None, suites: SuiteMap) -> bool:
    """Also where the base is not known here, as in a shallow clone."""
    return suite.always or base is None or not revision.knows(base) or suites.is_chosen(suite, revision.since(base))


def _with_one_drawn(chosen: list[Suite], rest: list[Suite]) -> Plan:
    drawn = rest[int(revision.tree_hash(), 16) % len(rest)] if rest else None
    return Plan(chosen, [suite for suite in rest if suite is not drawn], drawn)
