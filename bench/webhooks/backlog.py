"""The effect of a backlog on new messages: 200,000 retries that are not due yet, to endpoints that are dead."""

import tempfile
from pathlib import Path

from bench.report import Ratio
from bench.webhooks.receipts import Latency, latency, pace, taken
from bench.webhooks.stack import Stack, numbered_urls, wait_until
from tests.receivers import receiver_process

BACKLOG = 200_000
DEAD = 5
A_SECOND = 200.0
WANTED = 1.5
WITHOUT, WITH = "no backlog", "retries waiting"

LATER = """
    UPDATE webhook_queue SET next_at = now() + interval '1 hour' + random() * interval '16 hours', attempt = 3
"""


def measure(stack: Stack, *, rounds: int, seconds: float, backlog: int) -> list[Latency]:
    """Messages to a healthy endpoint, without and with the backlog, in turn."""
    times: dict[str, list[float]] = {WITHOUT: [], WITH: []}
    for _ in range(rounds):
        for name in times:
            stack.clear()
            if name == WITH:
                dead = stack.add_organization(*numbered_urls("https://127.0.0.1:9/hook", DEAD))
                stack.emit(dead, backlog // DEAD)
                with stack.connect() as connection:
                    connection.execute(LATER)
            times[name] += _live(stack, seconds)
    return [latency(name, seconds) for name, seconds in times.items()]


def _live(stack: Stack, seconds: float) -> list[float]:
    with tempfile.TemporaryDirectory() as folder:
        log = Path(folder) / "received"
        with receiver_process(tls=stack.authority, log=log) as receiver:
            own = stack.add_organization(receiver.url)
            with stack.running_worker(), stack.connect() as connection:
                pace(connection, [own], 1, 1)
                wait_until(lambda: receiver.count() > 0)
                pace(connection, [own], A_SECOND, seconds)
                return taken(stack, receiver, own)


def ratios(latencies: list[Latency]) -> list[Ratio]:
    without, with_backlog = latencies
    return [Ratio("p50 with retries waiting / without", with_backlog.p50 / without.p50, WANTED, at_most=True)]
