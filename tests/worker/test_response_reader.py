"""Reading a response: Retry-After in each of its forms, and the part of a body that is kept."""

from datetime import UTC, datetime, timedelta
from email.utils import format_datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gatepass.worker.response_reader import HEAD, LARGEST_BODY, retry_after, text
from tests.receivers import receiving, status
from tests.worker.bad_receivers import sending

NOW = datetime(2026, 9, 1, 12, 0, 0, tzinfo=UTC)


async def test_patience_that_a_receiver_asks_for() -> None:
    seconds = status(429, retry_after="120")
    date = status(503, retry_after=format_datetime(NOW + timedelta(minutes=5), usegmt=True))
    nonsense = status(429, retry_after="soon")
    async with receiving(answers=[seconds, date, nonsense, 429]) as receiver, sending(clock=lambda: NOW) as send:
        attempts = [await send(receiver.url()) for _ in range(4)]
    assert [attempt.status for attempt in attempts] == [429, 503, 429, 429]
    assert [attempt.retry_after for attempt in attempts] == [120, 300, None, None]
    assert {attempt.at for attempt in attempts} == {NOW}


@pytest.mark.parametrize(
    ("sent", "seconds"),
    [
        ("0", 0),
        ("120", 120),
        ("0120", 120),
        ("9999999999", 9999999999),
        ("99999999999", None),
        ("-1", None),
        ("+5", None),
        ("1.5", None),
        ("1e3", None),
        ("1_0", None),
        (" 5", None),
        ("5\n", None),
        ("٣", None),
        ("", None),
        ("Tue, 01 Sep 2026 12:01:00 GMT", 60),
        ("Tue, 01 Sep 2026 11:00:00 GMT", 0),
        ("Tue, 01 Sep 2026 12:01:00 UTC", None),
        ("Tue, 01 Sep 2026 12:01:00 +0000", None),
        ("Tue, 31 Feb 2026 12:01:00 GMT", None),
        ("Tue, 01 Xyz 2026 12:01:00 GMT", None),
        ("Xxx, 01 Sep 0000 12:01:00 GMT", 0),
        ("Tuesday, 01-Sep-26 12:01:00 GMT", None),
        ("2026-09-01T12:01:00Z", None),
        ("Tue, 01 Sep 2026 24:01:00 GMT", None),
    ],
)
def test_how_patience_is_written(sent: str, seconds: float | None) -> None:
    assert retry_after(sent, NOW) == seconds


@given(st.binary(max_size=HEAD) | st.text(max_size=HEAD).map(lambda said: said.encode("utf-8", "surrogatepass")[:HEAD]))
def test_what_is_kept_of_a_body_can_be_kept_by_postgresql(body: bytes) -> None:
    kept = text(body)
    assert kept is None or ("\0" not in kept and kept.encode() in body.replace(b"\0", b""))


def test_a_character_that_is_cut_in_two_is_left_out() -> None:
    assert text("aé".encode()[:2]) == "a"
    assert text(b"\xff") is None
    assert text(b"\xed\xa0\x80") is None
    assert text(b"\0") is None


@pytest.mark.parametrize("size", [LARGEST_BODY, LARGEST_BODY + 1, 200_000])
async def test_of_a_long_body_a_beginning_is_kept(size: int) -> None:
    async with receiving(otherwise=status(202, b"." * size)) as receiver, sending() as send:
        attempts = [await send(receiver.url()) for _ in range(2)]
    for attempt in attempts:
        assert (attempt.status, attempt.error, attempt.answer_head) == (202, None, "." * HEAD)
    if size == LARGEST_BODY:
        assert receiver.connections == 1
