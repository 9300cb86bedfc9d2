"""Batches: any iterable is cut into calls that the service takes, in order, without holding all of it."""

import json
from collections.abc import Iterator

import pytest

from gatepass_sdk import NewTicket
from gatepass_sdk._batches import LARGEST_BODY, MOST_ITEMS, cut

EVENT, CATEGORY = "0197a3c2-8d41-7c06-9b1e-5a2f7d3c4e10", "0197a3c2-8d41-7c06-9b1e-5a2f7d3c4e11"


def wanted(count: int, name: str = "Ada") -> Iterator[NewTicket]:
    for n in range(count):
        yield {"event_id": EVENT, "category_id": CATEGORY, "holder": {"name": name}, "external_id": f"order-{n}"}


@pytest.mark.parametrize("count", [0, 1, 999, 1000, 1001, 2500])
def test_a_batch_has_at_most_a_thousand(count: int) -> None:
    batches = list(cut(wanted(count)))
    assert [item for batch in batches for item in batch] == list(wanted(count))
    assert [len(batch) for batch in batches[:-1]] == [MOST_ITEMS] * (len(batches) - 1)
    assert all(batches)


@pytest.mark.parametrize("name", ["a" * 1500, "é" * 200, "\U0001f600" * 150, '"\\' * 400])
def test_a_batch_fits_into_a_request(name: str) -> None:
    """Measured as the client writes it: a letter that is not ASCII takes six bytes or twelve."""
    batches = list(cut(wanted(2000, name)))
    assert len(batches) > 2
    sizes = [len(json.dumps({"tickets": batch}).encode()) for batch in batches]
    assert max(sizes) <= LARGEST_BODY
    assert min(sizes[:-1]) > LARGEST_BODY * 0.99


def test_one_item_that_is_too_large_goes_alone() -> None:
    large: list[NewTicket] = [*wanted(2), *wanted(1, "a" * LARGEST_BODY), *wanted(2)]
    assert [len(batch) for batch in cut(large)] == [2, 1, 2]


def test_no_more_is_read_than_a_batch_needs() -> None:
    source = iter(range(10**9))
    batches = cut(source)
    assert next(batches) == list(range(1000))
    assert next(source) == 1001
