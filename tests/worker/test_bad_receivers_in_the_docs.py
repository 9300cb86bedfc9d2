"""The table of bad receivers in docs/guides/webhooks-in-production.md: each is tried, and its attempt compared."""

from contextlib import AsyncExitStack

import pytest

from gatepass.domain.webhooks.queue import Attempt
from tests.domain.webhooks.test_ssrf_guard import Names
from tests.postgres import free_port
from tests.receivers import Answer, Authority, receiving, status
from tests.worker.bad_receivers import BAD, OK, Unknown, sending, writes
from tests.worker.documented_receiver import IN_PRODUCTION

ANSWERS: dict[str, Answer] = {
    "answers 200 to 299": 204,
    "answers 200 with an endless body": BAD["endless body"].answer,
    "redirects": status(302, location="http://127.0.0.1/"),
    "answers 404": 404,
    "answers 500": 500,
    "answers 429 with `Retry-After`": status(429, retry_after="60"),
    "answers 410": 410,
    "takes the message and never answers": BAD["hangs"].answer,
    "drips its headers for over 15 s": BAD["drips headers"].answer,
    "answers 200 and drips its body for over 15 s": BAD["drips its body"].answer,
    "breaks off inside its body": BAD["closes in the body"].answer,
    "resets the connection": BAD["resets"].answer,
    "sends a header over 8 KiB": writes(OK + b"x: " + b"y" * 8200 + b"\r\n\r\n"),
    "sends over 128 headers": writes(OK + b"".join(b"x-%d: y\r\n" % n for n in range(129)) + b"\r\n"),
    "speaks another protocol than HTTP/1.1": BAD["not HTTP"].answer,
}
ROWS = {row[0]: (row[1], row[2].strip("`")) for row in IN_PRODUCTION.table("your endpoint")}


def noted(attempt: Attempt) -> tuple[str, str]:
    """The result as in the table."""
    return str(attempt.status or "null"), attempt.error or "null"


@pytest.mark.parametrize("what", ANSWERS)
async def test_a_receiver_that(what: str) -> None:
    deadline = 0.5 if ROWS[what][1] == "timeout" else 15
    async with receiving(otherwise=ANSWERS[what]) as receiver, sending(deadline=deadline) as send:
        assert noted(await send(receiver.url())) == ROWS[what]


async def test_the_rest_of_the_table() -> None:
    """Receivers that never get a request."""
    tried: dict[str, tuple[str, str]] = {}
    async with AsyncExitStack() as opened:
        send = await opened.enter_async_context(sending())
        stranger = await opened.enter_async_context(receiving(tls=Authority().server()))
        tried["refuses the connection"] = noted(await send(f"http://127.0.0.1:{free_port()}/"))
        tried["has a certificate that we cannot verify"] = noted(await send(stranger.url()))
        unknown = await opened.enter_async_context(sending(resolver=Unknown(hangs=False)))
        tried["has a name that cannot be found"] = noted(await unknown("https://receiver.test/"))
        inside = await opened.enter_async_context(sending(resolver=Names([["10.0.0.1"]]), allow_private=False))
        tried["has a name that leads to a private address"] = noted(await inside("https://receiver.test/"))
    assert {**tried, **{what: ROWS[what] for what in ANSWERS}} == ROWS
