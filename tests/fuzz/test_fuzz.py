"""The fuzzer itself: it can be repeated, every kind differs from what is right, and a fault is seen."""

from collections import Counter
from random import Random

import pytest

from tests.fuzz.client import Answers
from tests.fuzz.corpus import NIL, Corpus, Facts
from tests.fuzz.kinds import KINDS, request
from tests.fuzz.mutator import CONTENT, FRAMING, mutate
from tests.fuzz.pools import Pools, fill
from tests.fuzz.run import Result

FACTS = Facts(
    1, "svc_live_a", "svc_test_a", "session", NIL, NIL, NIL, NIL, "SVC 0000 0000 0000", "SVC1.a.1.b", NIL, "abc"
)


@pytest.fixture(scope="module")
def pools() -> Pools:
    return fill(1, 8)


def test_a_run_can_be_repeated(pools: Pools) -> None:
    once, again = ([request(n, 7, 1, Corpus(FACTS), pools) for n in range(200)] for _ in range(2))
    assert once == again
    assert once != [request(n, 8, 1, Corpus(FACTS), pools) for n in range(200)]


def test_the_generators_can_be_repeated(pools: Pools) -> None:
    assert fill(1, 8) == pools
    assert all((pools.bodies, pools.tokens, pools.queries, pools.files, pools.cases))


def test_the_first_requests_are_one_of_each_kind(pools: Pools) -> None:
    first = [request(n, 7, 1, Corpus(FACTS), pools)[0] for n in range(len(KINDS))]
    assert first == list(KINDS)
    assert sum(kind.of_thousand for kind in KINDS.values()) == 1_000


@pytest.mark.parametrize("change", FRAMING, ids=lambda change: change.__name__)
def test_a_change_changes(change: object) -> None:
    raw = Corpus(FACTS).scan.raw()
    assert any(mutate(Random(n), raw, [raw], [change]) != raw for n in range(20))  # pyright: ignore[reportArgumentType]
    assert isinstance(mutate(Random(1), b"", [], CONTENT), bytes)


def test_pipelined_answers_are_told_apart() -> None:
    answers = Answers()
    answers.feed(b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nokHTTP/1.1 503 No\r\nContent-Length: 0\r\n\r\n")
    assert answers.statuses == [200, 503]


def result(**changes: object) -> Result:
    good: dict[str, object] = {
        "seed": 1,
        "counts": {"tokens": Counter({"200": 5})},
        "faults": [],
        "seconds": 1.0,
        "memory": (100.0, 120.0),
        "alone": [5.0] * 5,
        "meanwhile": [24.0] * 5,
    }
    return Result(**good | changes)  # pyright: ignore[reportArgumentType]


def test_a_good_run_has_no_problem() -> None:
    assert result().problems(judges_delay=True) == []


@pytest.mark.parametrize(
    ("changes", "told"),
    [
        ({"faults": [[0, 5, "tokens", "500"]]}, "faults of the server"),
        ({"memory": (100.0, 165.0)}, "memory grew by 65 MB"),
        ({"meanwhile": [26.0] * 5}, "26.0 ms meanwhile"),
        ({"same_process": False}, "not the process"),
        ({"good_scans": ((200, "General"), (503, ""))}, "a good scan answers"),
    ],
)
def test_a_broken_bound_is_told(changes: dict[str, object], told: str) -> None:
    (problem,) = result(**changes).problems(judges_delay=True)
    assert told in problem
