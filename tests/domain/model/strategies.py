"""The scans that Hypothesis makes up."""

from datetime import timedelta
from typing import Final

from hypothesis import strategies as st

from gatepass.domain.cards import CardStatus
from tests.domain.model.model import Intent

# The steps of time go beyond the short one; the old one was never valid.
TOKEN_LIFE: Final = {
    "old token": timedelta(hours=-1),
    "short token": timedelta(minutes=50),
    "token of a minute": timedelta(minutes=1),
    "long token": timedelta(days=900),
}
# Positions in the lists of cards and events: few, and the first ones more often, so that scans collide. UNKNOWN is in
# no list. The status of the first event seldom changes, so that an event is open most of the time.
UNKNOWN: Final = -1
CARDS: Final = [0, 0, 0, 0, 1, 1, 1, 2, 2, 3, 4]
EVENTS: Final = [0, 0, 0, 0, 0, 0, 1, 1, 2, 3]
CHANGED_EVENTS: Final = [1, 1, 2, 2, 3, 0]
# Hours after T0, of times at which cards were shown and of times in rules: few, so that one is often the other.
RULE_HOURS: Final = [2, 20]
GATES: Final = ["North", "South"]
CARD_STATUSES: Final = [CardStatus.SUSPENDED, CardStatus.ACTIVE] * 2 + [CardStatus.REVOKED]


def intents() -> st.SearchStrategy[Intent]:
    return st.builds(
        Intent,
        event=st.sampled_from([*EVENTS, UNKNOWN]),
        card=st.sampled_from([*CARDS, UNKNOWN]),
        shown=st.sampled_from(["number", "number", "typed", *TOKEN_LIFE]),
        idempotency_key=st.sampled_from([None] * 4 + ["k1", "k2", "k3", "k4"]),
        gate=st.sampled_from([None, *GATES]),
        of_test_card=st.sampled_from([False] * 9 + [True]),
        occurred=st.sampled_from([None] * 4 + RULE_HOURS),
    )
