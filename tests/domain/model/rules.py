"""The machine with the rules at the gate: when the doors open, and when and where a category's tickets are good."""

from dataclasses import replace
from datetime import datetime, timedelta

from hypothesis import strategies as st
from hypothesis.stateful import rule

from gatepass.base.database import Tx
from gatepass.base.errors import NotAllowedFromHere
from gatepass.domain import events
from gatepass.domain.events import CategoryDetails, Details
from gatepass.domain.events.event import FINAL_STATUSES
from tests.domain.model.machine import BY
from tests.domain.model.moves import MovingMachine
from tests.domain.model.organization import T0
from tests.domain.model.strategies import EVENTS, GATES, RULE_HOURS

HOURS = st.sampled_from([None, *RULE_HOURS])
LISTS = st.sampled_from([None, [], *([gate] for gate in GATES), GATES])


def _moment(hours: int | None) -> datetime | None:
    return None if hours is None else T0 + timedelta(hours=hours)


class RuledMachine(MovingMachine):
    @rule(event=st.sampled_from(EVENTS), hours=HOURS)
    def change_when_doors_open(self, event: int, hours: int | None) -> None:
        event_id, doors_open_at = self.side.event(event), _moment(hours)
        known, at = self.model.events[event_id], self._tick()
        if doors_open_at is not None and doors_open_at >= known.ends_at:
            return

        async def edit(tx: Tx) -> None:
            now = Details.of(await events.lock(tx, self.id, event_id))
            await events.edit(tx, self.id, event_id, replace(now, doors_open_at=doors_open_at), by=BY, at=at)

        refused = self.world.refused(edit)
        assert refused is (NotAllowedFromHere if known.status in FINAL_STATUSES else None)
        if refused is None:
            known.doors_open_at = doors_open_at

    @rule(event=st.sampled_from(EVENTS), category=st.integers(0, 1), since=HOURS, until=HOURS, gates=LISTS)
    def change_rules_of_a_category(
        self, event: int, category: int, since: int | None, until: int | None, gates: list[str] | None
    ) -> None:
        event_id, at = self.side.event(event), self._tick()
        known = self.model.events[event_id]
        category_id = known.categories[category]
        if since is not None and until is not None and since >= until:
            return
        window = {"valid_from": _moment(since), "valid_until": _moment(until)}

        async def edit(tx: Tx) -> None:
            was = CategoryDetails.of(await events.find_category(tx, self.id, category_id))
            new = replace(was, **window, gates=gates)
            await events.edit_category(tx, self.id, event_id, category_id, new, by=BY, at=at)

        refused = self.world.refused(edit)
        assert refused is (NotAllowedFromHere if known.status in FINAL_STATUSES else None)
        if refused is None:
            rules = self.model.categories[category_id]
            rules.valid_from, rules.valid_until, rules.gates = (
                window["valid_from"],
                window["valid_until"],
                gates or None,
            )
