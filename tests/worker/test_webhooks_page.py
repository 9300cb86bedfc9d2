"""docs/webhooks.md: its commands run as pasted, its answers look as shown, its tables say what the code does."""

import json
import re
import time
from collections.abc import AsyncGenerator, Callable, Iterator
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from gatepass.base.database import Database
from gatepass.domain.keys import Mode
from gatepass.domain.message_catalogue import MESSAGES
from gatepass.domain.webhooks import EndpointStatus, PausedReason, signature
from gatepass.domain.webhooks.schedule import DELAYS
from gatepass.domain.webhooks.signature import Secrets
from tests import make
from tests.page import Block, pasted
from tests.postgres import free_port
from tests.serving import launch_worker, serve
from tests.worker.docs_receiver import PAGE, DocsReceiver, docs_receiver

WITHIN = 20.0
CODE = re.compile("`([^`]+)`")
SECONDS = {"s": 1, "min": 60, "h": 3600}


def test_every_block_is_one_that_is_run_or_compared() -> None:
    assert {block.language for block in PAGE.blocks()} == {"bash", "python", "json"}
    assert len(PAGE.blocks("python")) == 2, "both are run in test_receiver_in_the_docs.py"


def test_the_types_are_those_that_there_are() -> None:
    told = {CODE.findall(type)[0]: CODE.findall(data) for type, _, data in PAGE.table("type")}
    assert told == {message.type: list(message.fields) for message in MESSAGES}


def test_the_headers_are_those_that_are_sent() -> None:
    told = {name for row in PAGE.table("header") for name in CODE.findall(row[0])}
    both = Secrets(signature.new_secret(), signature.new_secret())
    about: dict[str, Any] = {"event_id": make.new_id(), "type": "webhook.ping", "delivery_id": make.new_id()}
    sent = signature.headers(both, b"{}", attempt=2, replayed=True, at=make.now(), **about)
    assert told == {*sent, "user-agent"}


def test_the_retries_are_those_of_the_schedule() -> None:
    rows = PAGE.table("attempt")
    assert [int(attempt) for attempt, _, _ in rows] == list(range(1, len(DELAYS) + 2))
    assert [seconds(after) for _, after, _ in rows[1:]] == list(DELAYS)
    since = [sum(DELAYS[:n]) for n in range(1, len(DELAYS) + 1)]
    assert [seconds(told) for _, _, told in rows[1:]] == [s if s < 1800 else round(s / 60) * 60 for s in since]


def test_the_page_can_be_followed_from_its_first_command_to_its_last(reader: "Reader", tmp_path: Path) -> None:
    register(reader)
    receive(reader, tmp_path)
    pause(reader)
    look_back(reader)
    send_again(reader)
    change_the_secret(reader, tmp_path)
    ask(reader)
    delete(reader)
    assert list(reader.blocks) == []


def register(reader: "Reader") -> None:
    made = reader.paste("Register an endpoint")["data"]
    reader.env |= {"WEBHOOK_ID": made["id"], "WEBHOOK_SECRET": made["secret"]}


def receive(reader: "Reader", folder: Path) -> None:
    reader.listen(folder, reader.env["WEBHOOK_SECRET"])
    reader.skip("python", "Receive and verify")
    ping = reader.paste("Receive and verify")["data"]
    reader.receiver.wait_for(f"webhook.ping {ping['event_id']}")
    assert reader.paste("Receive and verify")["data"]["tier"] == "standard"
    reader.receiver.wait_for("ticket.activated evt_")
    reader.skip("python", "With a library")
    body = json.loads(reader.skip("json", "What we send").text)
    assert_alike(body, reader.messages()[-1])


def pause(reader: "Reader") -> None:
    paused = reader.paste("Paused, held, resumed")["data"]
    assert (paused["status"], paused["paused_reason"]) == (EndpointStatus.PAUSED, PausedReason.REQUESTED)
    resumed = reader.paste("Paused, held, resumed")["data"]
    assert (resumed["status"], resumed["paused_reason"]) == (EndpointStatus.ACTIVE, None)


def look_back(reader: "Reader") -> None:
    listing = next(reader.blocks)
    until(lambda: json.loads(reader.run(listing))["data"])
    listed = reader.compared(json.loads(reader.run(listing)))
    assert listed["data"][0]["status"] == "delivered"
    reader.env["DELIVERY_ID"] = listed["data"][0]["id"]
    detail = reader.paste("See what became of it")["data"]
    assert [attempt["status"] for attempt in detail["attempts_made"]] == [204]
    assert json.loads(detail["body"])["id"] == detail["event_id"]


def send_again(reader: "Reader") -> None:
    activated = next(line for line in reader.receiver.lines if line.startswith("ticket.activated"))
    assert reader.paste("Send again") == {"data": {"total": 1}}
    begun = reader.paste("Send again")["data"]
    reader.receiver.wait_for(activated, times=2)
    listed = reader.paste("Send again")["data"]
    assert [(replay["id"], replay["done"], replay["total"]) for replay in listed] == [(begun["id"], 1, 1)]
    assert reader.paste("Send again")["data"]["total"] == 1
    reader.receiver.wait_for(activated, times=3)


def change_the_secret(reader: "Reader", folder: Path) -> None:
    rotated = reader.paste("Change the secret")["data"]
    assert set(rotated["rotation"]) == {"switches_at", "retires_at"}
    reader.listen(folder, reader.env["WEBHOOK_SECRET"], rotated["secret"])
    reader.ping()
    switched = reader.paste("Change the secret")["data"]
    assert switched["rotation"]
    assert switched["secret"] is None
    reader.ping()
    reader.listen(folder, rotated["secret"])
    reader.ping()


def ask(reader: "Reader") -> None:
    page = reader.paste("Ask instead of being told")
    assert [message["type"] for message in page["data"]] == ["webhook.ping", "ticket.activated", *["webhook.ping"] * 3]
    reader.env["CURSOR"] = page["next_cursor"]
    assert reader.paste("Ask instead of being told")["data"] == []


def delete(reader: "Reader") -> None:
    assert reader.run(next(reader.blocks)) == ""
    gone = pasted(
        'curl -s "$GATEPASS_BASE_URL/webhooks/$WEBHOOK_ID" -H "Authorization: Bearer $GATEPASS_API_KEY"',
        reader.folder,
        reader.env,
    )
    assert json.loads(gone)["code"] == "webhook_not_found"


@dataclass
class Reader:
    """Goes through the page block by block, and leaves none out."""

    folder: Path
    env: dict[str, str]
    started: ExitStack
    blocks: Iterator[Block] = field(default_factory=lambda: iter(PAGE.blocks()))
    receiver: DocsReceiver = field(init=False)

    def listen(self, folder: Path, *secrets: str) -> None:
        """Start the receiver of the page, in place of the one that listens."""
        if hasattr(self, "receiver"):
            self.receiver.stop()
        port = int(self.env["WEBHOOK_URL"].rstrip("/").rpartition(":")[2])
        self.receiver = self.started.enter_context(docs_receiver(folder, *secrets, port=port))

    def paste(self, heading: str) -> Any:
        """Run the next command, which stands under this heading; its answer, which looks as the page shows it."""
        block = next(self.blocks)
        assert (block.language, block.heading) == ("bash", heading)
        return self.compared(json.loads(self.run(block)))

    def run(self, block: Block) -> str:
        return pasted(block.text, self.folder, self.env)

    def compared(self, answer: Any) -> Any:
        assert "error" not in answer, answer
        rest = list(self.blocks)
        if rest and rest[0].language == "json" and rest[0].heading != "What we send":
            assert_alike(json.loads(rest.pop(0).text), answer)
        self.blocks = iter(rest)
        return answer

    def skip(self, language: str, heading: str) -> Block:
        block = next(self.blocks)
        assert (block.language, block.heading) == (language, heading)
        return block

    def ping(self) -> None:
        """The page's own command, once more."""
        (command,) = [block for block in PAGE.blocks("bash") if "/test" in block.text]
        event_id = json.loads(self.run(command))["data"]["event_id"]
        self.receiver.wait_for(f"webhook.ping {event_id}")

    def messages(self) -> list[Any]:
        feed = next(block for block in PAGE.blocks("bash") if "/webhook-events" in block.text)
        return json.loads(self.run(feed))["data"]


@pytest.fixture
async def reader(own: Database, house: make.House, tmp_path: Path) -> AsyncGenerator[Reader]:
    """Somebody with a sandbox key, an API and a worker that are real, and a port to listen on."""
    env = {
        "GATEPASS_DATABASE_URL": own._url,
        "GATEPASS_ENCRYPTION_KEYS": make.KEY,
        "GATEPASS_METRICS_PORT": "0",
        "GATEPASS_WEBHOOK_ALLOW_PRIVATE": "1",
    }
    key = await house.key(mode=Mode.SANDBOX)
    with ExitStack() as started:
        serving = serve(env, free_port())
        started.callback(serving.stop)
        started.callback(launch_worker(env).stop)
        known = {
            "GATEPASS_BASE_URL": serving.base_url,
            "GATEPASS_API_KEY": key.text,
            "WEBHOOK_URL": f"http://127.0.0.1:{free_port()}/",
        }
        yield Reader(tmp_path, known, started)


def assert_alike(shown: Any, real: Any) -> None:
    """What is shown has the fields that are really there, each with its type; null stands for any."""
    if isinstance(shown, dict):
        assert list(shown) == list(real)
        for name, value in shown.items():
            assert_alike(value, real[name])
    elif isinstance(shown, list):
        assert bool(shown) == bool(real)
        for one, other in zip(shown[:1], real[:1], strict=True):
            assert_alike(one, other)
    else:
        assert shown is None or real is None or type(shown) is type(real), (shown, real)


def until(holds: Callable[[], object]) -> None:
    deadline = time.monotonic() + WITHIN
    while not holds():
        assert time.monotonic() < deadline
        time.sleep(0.02)


def seconds(text: str) -> int:
    """`1 h 43 min` in seconds."""
    words = text.split()
    return sum(int(number) * SECONDS[unit] for number, unit in zip(words[::2], words[1::2], strict=True))
