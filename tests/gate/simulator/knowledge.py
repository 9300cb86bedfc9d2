"""What a gate without a network knows, and whom it must let in: the rules of the door once more, in plain Python.

A gate's knowledge is the state of the service when it last followed the manifest, and its own journal. The decisions of
the SDK, made from the bytes of the manifest, are compared with these.
"""

from dataclasses import dataclass

from tests.gate.simulator.model import ACTIVATED, Model
from tests.gate.simulator.records import Shown
from tests.gate.simulator.scenario import Policy


@dataclass(frozen=True)
class Knowledge:
    """The model as it was, and the event's policy. A card that never had a ticket is not in the manifest."""

    then: Model
    policy: Policy

    @classmethod
    def of(cls, model: Model, policy: Policy) -> "Knowledge":
        cards = {number: card.copied() for number, card in model.cards.items() if card.tickets}
        return cls(Model(model.doors_open, list(model.categories), cards, []), policy)

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
