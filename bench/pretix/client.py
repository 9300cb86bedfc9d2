"""A fixed number of calls over a few connections, for a system that is too slow for `wrk`.

`wrk` drops the calls that are open when its time is up: too many of a few hundred. gunicorn's plain workers close the
connection after each answer, so each call here opens a new one.
"""

import json
import time
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import partial
from http.client import HTTPConnection
from statistics import fmean, quantiles

from bench.measure import Slice

PATIENCE = 60.0


@dataclass
class Call:
    path: str
    headers: dict[str, str]
    body: dict[str, object]


@dataclass
class Answer:
    status: int
    text: str
    us: float


@dataclass
class Calls:
    answers: list[Answer]
    seconds: float
    wanted: int

    def refused(self) -> list[Answer]:
        return [answer for answer in self.answers if answer.status != self.wanted]

    def require_all(self) -> None:
        refused = self.refused()
        if refused:
            raise AssertionError(f"{len(refused)} calls were refused: {refused[0].status} {refused[0].text[:500]}")

    def slice(self) -> Slice:
        times = [answer.us for answer in self.answers]
        at = quantiles(times, n=100, method="inclusive")
        count = len(times)
        return Slice(count, self.seconds, fmean(times), at[49], at[98], len(self.refused()), count)


def make_calls(port: int, calls: Sequence[Call], connections: int, wanted: int) -> Calls:
    """Make the calls, at most `connections` at a time; `wanted` is the status of a good answer."""
    started = time.perf_counter()
    with ThreadPoolExecutor(connections) as pool:
        answers = list(pool.map(partial(_make, port), calls))
    return Calls(answers, time.perf_counter() - started, wanted)


def _make(port: int, call: Call) -> Answer:
    started = time.perf_counter()
    connection = HTTPConnection("127.0.0.1", port, timeout=PATIENCE)
    try:
        headers = {"Content-Type": "application/json", **call.headers}
        connection.request("POST", call.path, json.dumps(call.body), headers)
        response = connection.getresponse()
        text = response.read().decode()
    finally:
        connection.close()
    return Answer(response.status, text, (time.perf_counter() - started) * 1e6)
