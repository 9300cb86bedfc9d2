"""Late scans: the first answer was lost, and the scan is sent again when the service no longer keeps that answer."""

import sqlite3
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from gatepass_sdk import Gatepass, ScanQueue, Verdict
from tests.sdk.stack import Stack


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "scans.db"


def backdate_sending(path: Path, id: int, ago: timedelta) -> None:
    with sqlite3.connect(path) as db:
        db.execute("UPDATE scan SET sent_at = ? WHERE id = ?", ((datetime.now(UTC) - ago).isoformat(), id))
    db.close()


def activated_by(client: Gatepass, stack: Stack, card: str, *, scanner_id: str, gate: str = "North") -> None:
    """The try whose answer was lost. A service that no longer keeps its key takes it for another scan."""
    client.scans.create(stack.event_id, card_number=card, scanner_id=scanner_id, gate=gate)


def drained_verdicts(path: Path, client: Gatepass) -> list[Verdict]:
    with ScanQueue(path) as queue:
        assert queue.drain(client).stopped_by is None
        return list(queue.verdicts())


@pytest.mark.parametrize(
    ("scanner_id", "hours", "ours"),
    [("scanner-7", 25, True), ("scanner-8", 25, False), ("scanner-7", 23, False)],
    ids=["by us", "by another scanner", "while the answer would still be kept"],
)
def test_our_own_activation_is_distinguished_from_that_of_others(
    stack: Stack, path: Path, scanner_id: str, hours: int, *, ours: bool
) -> None:
    card = stack.unused()["card_number"]
    with Gatepass(stack.key("live"), base_url=stack.base_url) as client:
        activated_by(client, stack, card, scanner_id=scanner_id)
        with ScanQueue(path) as queue:
            id = queue.add(stack.event_id, card_number=card, scanner_id="scanner-7", gate="North")
        backdate_sending(path, id, timedelta(hours=hours))
        (verdict,) = drained_verdicts(path, client)
    assert (verdict.code, verdict.replayed, verdict.probably_ours) == ("already_activated", False, ours)


def test_a_second_scan_is_not_taken_for_the_first(stack: Stack, path: Path) -> None:
    """Both were sent by one scanner at one gate; the first activated the ticket, so the second did not."""
    card = stack.unused()["card_number"]
    with Gatepass(stack.key("live"), base_url=stack.base_url) as client:
        with ScanQueue(path) as queue:
            ids = [queue.add(stack.event_id, card_number=card, scanner_id="scanner-7", gate="North") for _ in range(2)]
        for id in ids:
            backdate_sending(path, id, timedelta(hours=25))
        first, second = drained_verdicts(path, client)
    assert first.ticket is not None
    assert (second.code, second.probably_ours) == ("already_activated", False)


def test_a_scan_that_grew_too_old_on_its_way_is_not_called_refused_for_certain(stack: Stack, path: Path) -> None:
    with Gatepass(stack.key("live"), base_url=stack.base_url) as client:
        with ScanQueue(path) as queue:
            then = datetime.now(UTC) - timedelta(hours=73)
            id = queue.add(stack.event_id, token=stack.unused()["token"], occurred_at=then)
        backdate_sending(path, id, timedelta(hours=72, minutes=59))
        (verdict,) = drained_verdicts(path, client)
    assert (verdict.code, verdict.outcome_unknown) == ("invalid_request", True)
