"""Batches: any number of items, cut into as few calls as the service takes."""

import json
from collections.abc import Iterable, Iterator
from typing import Final, TypeVar

T = TypeVar("T")

# The bounds of the service: a larger batch is refused.
MOST_ITEMS: Final = 1_000
LARGEST_BODY: Final = 1024 * 1024
# The body around the items: `{"tickets": []}`, or the expiry of tokens beside their cards.
AROUND: Final = 256
SEPARATOR: Final = len(", ")


def cut(items: Iterable[T]) -> Iterator[list[T]]:
    """Batches of at most 1,000 items and 1 MiB. An item is read when its batch is filled, so memory stays bounded."""
    batch, size = list[T](), AROUND
    for item in items:
        length = len(json.dumps(item)) + SEPARATOR
        if batch and (len(batch) == MOST_ITEMS or size + length > LARGEST_BODY):
            yield batch
            batch, size = [], AROUND
        batch.append(item)
        size += length
    if batch:
        yield batch
