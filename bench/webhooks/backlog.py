"""What a pile of retries does to what happens now: 200,000 that wait for the future, at endpoints that are dead."""

import tempfile
from pathlib import Path

from bench.report import Ratio
from bench.webhooks.estate import Estate, numbered, until
from bench.webhooks.receipts import Latency, latency, pace, taken
from tests.receivers import receiver_process

PILE = 200_000
DEAD = 5
A_SECOND = 200.0
WANTED = 1.5
WITHOUT, WITH = "no backlog", "retries waiting"

LATER = """
    UPDATE webhook_queue SET next_at = now() + interval '1 hour' + random() * interval '16 hours', attempt = 3
"""


def measure(estate: Estate, *, rounds: int, seconds: float, pile: int) -> list[Latency]:
    """Messages to a healthy endpoint, without and with the pile, in turn."""
    times: dict[str, list[float]] = {WITHOUT: [], WITH: []}
    for _ in range(rounds):
        for name in times:
            estate.empty()
            if name == WITH:
                dead = estate.found(*numbered("https://127.0.0.1:9/hook", DEAD))
                estate.tell(dead, pile // DEAD)
                with estate.connect() as connection:
                    connection.execute(LATER)
            times[name] += _live(estate, seconds)
    return [latency(name, seconds) for name, seconds in times.items()]


def _live(estate: Estate, seconds: float) -> list[float]:
    with tempfile.TemporaryDirectory() as folder:
        log = Path(folder) / "received"
        with receiver_process(tls=estate.authority, log=log) as receiver:
            own = estate.found(receiver.url)
            with estate.working(), estate.connect() as connection:
                pace(connection, [own], 1, 1)
                until(lambda: receiver.count() > 0)
                pace(connection, [own], A_SECOND, seconds)
                return taken(estate, receiver, own)


def ratios(latencies: list[Latency]) -> list[Ratio]:
    without, with_pile = latencies
    return [Ratio("p50 with retries waiting / without", with_pile.p50 / without.p50, WANTED, at_most=True)]
