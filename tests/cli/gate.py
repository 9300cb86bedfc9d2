"""A running process of the API on a command's database, and a gate in front of it."""

import subprocess
from collections.abc import Generator, Iterator
from contextlib import contextmanager
from typing import Any

import httpx2
import psycopg

from tests.cli.command import WITHIN, Command
from tests.postgres import free_port

DEMO = "Gatepass Demo"


def rows(command: Command, query: str) -> list[tuple[Any, ...]]:
    with psycopg.connect(command.env["GATEPASS_DATABASE_URL"]) as connection:
        return connection.execute(query.encode()).fetchall()


@contextmanager
def serving(command: Command) -> Generator[httpx2.Client]:
    """A real process of the API; its clients have no key yet."""
    port = free_port()
    with command.started("serve", "--port", str(port), stderr=subprocess.STDOUT) as process:
        assert process.stdout is not None
        for line in process.stdout:
            if str(port) in line:
                break
        with httpx2.Client(base_url=f"http://127.0.0.1:{port}/api/public/v1", timeout=10) as client:
            yield client
        # What it has to write of these calls is written when it stops.
        process.terminate()
        process.communicate(timeout=WITHIN)
        assert process.returncode == 0


def answer_of(response: httpx2.Response) -> tuple[int, str | None]:
    return response.status_code, response.json().get("code")


class Gate:
    """A gate with a card for each scan."""

    def __init__(self, client: httpx2.Client, demo: dict[str, Any], key: str) -> None:
        self.client, self.headers = client, {"Authorization": f"Bearer {key}"}
        self.event = demo["events"]["published"]
        self.cards: Iterator[dict[str, Any]] = iter(demo["cards"]["unused"])

    def scan(self) -> tuple[int, str | None]:
        body = {"event_id": self.event, "card_number": next(self.cards)["card_number"]}
        return answer_of(self.client.post("/scan", json=body, headers=self.headers))

    def verify(self) -> tuple[int, str | None]:
        token = next(self.cards)["token"]
        return answer_of(self.client.get("/card/verify", params={"token": token}, headers=self.headers))

    def events(self) -> tuple[int, str | None]:
        return answer_of(self.client.get("/events", headers=self.headers))
