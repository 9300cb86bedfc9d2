"""The tables of the pages about webhooks match the code. Their commands are run by tests/docs."""

import re
from typing import Any

from gatepass.domain.message_catalogue import MESSAGES
from gatepass.domain.webhooks import signature
from gatepass.domain.webhooks.schedule import DELAYS
from gatepass.domain.webhooks.signature import Secrets
from tests import factory
from tests.worker.documented_receiver import IN_PRODUCTION, PAGE

CODE = re.compile("`([^`]+)`")
SECONDS = {"s": 1, "min": 60, "h": 3600}


def test_the_types_are_those_that_there_are() -> None:
    told = {CODE.findall(type)[0]: CODE.findall(data) for type, _, data in PAGE.table("type")}
    assert told == {message.type: list(message.fields) for message in MESSAGES}


def test_the_headers_are_those_that_are_sent() -> None:
    told = {name for row in PAGE.table("header") for name in CODE.findall(row[0])}
    both = Secrets(signature.new_secret(), signature.new_secret())
    about: dict[str, Any] = {"event_id": factory.new_id(), "type": "webhook.ping", "delivery_id": factory.new_id()}
    sent = signature.headers(both, b"{}", attempt=2, replayed=True, at=factory.now(), **about)
    assert told == {*sent, "user-agent"}


def test_the_retries_are_those_of_the_schedule() -> None:
    rows = IN_PRODUCTION.table("attempt")
    assert [int(attempt) for attempt, _, _ in rows] == list(range(1, len(DELAYS) + 2))
    assert [seconds(after) for _, after, _ in rows[1:]] == list(DELAYS)
    since = [sum(DELAYS[:n]) for n in range(1, len(DELAYS) + 1)]
    assert [seconds(told) for _, _, told in rows[1:]] == [s if s < 1800 else round(s / 60) * 60 for s in since]


def seconds(text: str) -> int:
    """`1 h 43 min` in seconds."""
    words = text.split()
    return sum(int(number) * SECONDS[unit] for number, unit in zip(words[::2], words[1::2], strict=True))
