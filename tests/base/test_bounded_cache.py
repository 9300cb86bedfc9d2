"""A cache that does not grow without end."""

from gatepass.base.bounded_cache import BoundedCache


def filled(most: int, *names: str) -> BoundedCache[str, int]:
    cache: BoundedCache[str, int] = BoundedCache(most)
    for value, name in enumerate(names):
        cache[name] = value
    return cache


def test_the_oldest_is_dropped_when_one_more_is_set() -> None:
    assert dict(filled(2, "a", "b", "c")) == {"b": 1, "c": 2}


def test_an_item_that_is_set_again_is_the_youngest() -> None:
    assert dict(filled(2, "a", "b", "a", "c")) == {"a": 2, "c": 3}


def test_looking_up_does_not_keep_an_item() -> None:
    cache = filled(2, "a", "b")
    assert cache.get("a") == 0
    cache["c"] = 2
    assert cache.get("a") is None


def test_a_removed_item_makes_room() -> None:
    cache = filled(2, "a", "b")
    assert cache.pop("b") == 1
    cache["c"] = 2
    assert dict(cache) == {"a": 0, "c": 2}
