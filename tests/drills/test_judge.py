"""The judge sees what a restore or an upgrade can do wrong."""

from dataclasses import replace
from datetime import UTC, datetime
from typing import Any
from uuid import UUID

import pytest

from tests.drills.judge import Judgement, Winner

CARD, AT = "SVC 1234 5678 9015", datetime(2026, 6, 15, 18, 30, tzinfo=UTC)
WINNER = Winner(UUID(int=1), "scanner 1", AT)


def test_what_is_as_it_was_is_no_fault() -> None:
    assert not Judgement.of({CARD: WINNER}, {CARD: replace(WINNER)})


def test_a_lost_activation_is_a_fault() -> None:
    assert Judgement.of({CARD: WINNER}, {}).lost == {CARD}


def test_an_activation_that_no_gate_was_told_of_is_a_fault() -> None:
    assert Judgement.of({}, {CARD: WINNER}).untold == {CARD}


@pytest.mark.parametrize(
    "other", [{"scanner_id": "scanner 2"}, {"occurred_at": AT.replace(hour=19)}, {"ticket_id": UUID(int=3)}]
)
def test_another_winner_is_a_fault(other: dict[str, Any]) -> None:
    judgement = Judgement.of({CARD: WINNER}, {CARD: replace(WINNER, **other)})
    assert judgement
    assert judgement.of_another == {CARD}
