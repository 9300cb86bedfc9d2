"""What a gate without a network knows, and whom it must let in: the rules of the door once more, in plain Python.

A gate's knowledge is the state of the service when it last followed the manifest, and its own journal. The decisions of
the SDK, made from the bytes of the manifest, are compared with these.
"""

from collections.abc import Mapping
from dataclasses import dataclass

from gatepass_sdk._gate.manifest import Manifest, Record
from tests.gate.simulator.model import ACTIVATED, Model
from tests.gate.simulator.records import Card, Shown
from tests.gate.simulator.scenario import Policy
from tests.gate.simulator.world import World, rules_of


@dataclass(frozen=True)
class Knowledge:
    """The model as it was, and the event's policy. A card that never had a ticket is not in the manifest."""

    then: Model
    policy: Policy

    @classmethod
    def of(cls, model: Model, policy: Policy) -> "Knowledge":
        cards = {number: card.copied() for number, card in model.cards.items() if card.tickets}
        return cls(Model(model.doors_open, list(model.categories), cards, []), policy)

    def is_in(self, manifest: Manifest, world: World) -> bool:
        """Whether the manifest has this, card by card and rule by rule."""
        rules = {
            one.name: {
                "valid_from": one.valid_from,
                "valid_until": one.valid_until,
                "gates": None if one.gates is None else list(one.gates),
            }
            for one in manifest.header.categories
        }
        names = {one.index: one.name for one in manifest.header.categories}
        return (
            len(manifest) == len(self.then.cards)
            and rules == {one.name: rules_of(one, world.opening) for one in self.then.categories}
            and all(
                self._is_record(card, manifest.find(world.numbers[number]), names)
                for number, card in self.then.cards.items()
            )
        )

    def _is_record(self, card: Card, record: Record | None, names: Mapping[int, str]) -> bool:
        if record is None:
            return False
        ticket = card.in_use
        category = None if ticket is None else self.then.categories[ticket.category].name
        return (
            (None if record.category is None else names[record.category]) == category
            and record.used == (ticket is not None and ticket.activated_by is not None)
            and (record.suspended, record.revoked) == (card.status == "suspended", card.status == "revoked")
        )

    def verdict(self, shown: Shown, *, is_used_here: bool, is_typed: bool) -> str:
        """`activated`: the gate lets the guest in. `is_used_here`: it let this card in before, by its own journal."""
        if self.policy is Policy.STOP:
            return "online_only"
        if shown.card is None:
            return "invalid_token"
        said = self.then.verdict(shown)
        if is_used_here and said in (ACTIVATED, "card_not_found", "outside_window", "wrong_gate"):
            return "already_activated"
        if self.policy is Policy.SIGNATURE and not is_typed and said == "card_not_found":
            return ACTIVATED
        return said
