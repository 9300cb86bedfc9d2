"""Reading what a receiver answers, and trusting none of it.

A body is read to a limit and never inflated. Of it only a beginning is kept, if that is text.
"""

import codecs
import re
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from time import perf_counter
from typing import Final

from aiohttp.client_proto import ResponseHandler

from gatepass.domain.webhooks.progress import Progress

# What is read of a body. More than that does no harm to a receiver: its status counts, its connection ends.
LARGEST_BODY: Final = 16 * 1024
# What is kept of it.
HEAD: Final = 1024
# Each header and the status line; of headers there may be 128.
LARGEST_LINE: Final = 8190
# 1xx answers before the real one. Without end they would keep the event loop busy, to the cost of all other receivers.
MOST_INTERIM: Final = 8
SWITCHING_PROTOCOLS: Final = 101

SECONDS: Final = re.compile(r"[0-9]{1,10}", re.ASCII)
DATE: Final = re.compile(r"[A-Z][a-z]{2}, [0-9]{2} [A-Z][a-z]{2} [0-9]{4} [0-9]{2}:[0-9]{2}:[0-9]{2} GMT", re.ASCII)


class BadAnswer(Exception):  # noqa: N818  what came is not HTTP as we take it
    pass


class Answer:
    """As far as it has come: what was read stays when the rest fails. `head` is the beginning of the body."""

    __slots__ = ("head", "retry_after", "status")

    def __init__(self) -> None:
        self.status: int | None = None
        self.retry_after: str | None = None
        self.head = b""

    async def read(self, protocol: ResponseHandler, progress: Progress) -> None:
        for _ in range(1 + MOST_INTERIM):
            message, content = await protocol.read()
            if message.code >= 200 or message.code == SWITCHING_PROTOCOLS:
                break
        else:
            raise BadAnswer("too many interim answers")
        progress.answered = perf_counter()
        self.status = message.code
        self.retry_after = message.headers.get("retry-after")
        read = bytearray()
        while not content.at_eof() and len(read) <= LARGEST_BODY:
            read += await content.readany()
            self.head = bytes(read[:HEAD])


def text(beginning: bytes) -> str | None:
    """None if it is not UTF-8. A character that was cut in two is left out, and so is NUL, which PostgreSQL refuses."""
    try:
        return codecs.getincrementaldecoder("utf-8")().decode(beginning).replace("\0", "") or None
    except UnicodeDecodeError:
        return None


def retry_after(said: str, now: datetime) -> float | None:
    """Seconds to wait, from a number of them or a date; None if it is neither."""
    if SECONDS.fullmatch(said):
        return float(said)
    if not DATE.fullmatch(said):
        return None
    try:
        return max(0.0, (parsedate_to_datetime(said).astimezone(UTC) - now).total_seconds())
    except ValueError:
        return None
