"""Reading the response of a receiver, which is not trusted.

A body is read up to a limit and never decompressed. Only its beginning is kept, if it is text.
"""

import codecs
import re
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from time import perf_counter
from typing import Final

from aiohttp.client_proto import ResponseHandler

from gatepass.domain.webhooks.attempt_timing import AttemptTiming

# Bytes of a body that are read. After a longer body the connection is closed; its status counts all the same.
LARGEST_BODY: Final = 16 * 1024
# Bytes of a body that are kept.
HEAD: Final = 1024
# For each header and the status line; at most 128 headers.
LARGEST_LINE: Final = 8190
# 1xx responses before the final one. Without a limit they would keep the event loop busy, at the cost of all receivers.
MOST_INTERIM: Final = 8
SWITCHING_PROTOCOLS: Final = 101

SECONDS: Final = re.compile(r"[0-9]{1,10}", re.ASCII)
DATE: Final = re.compile(r"[A-Z][a-z]{2}, [0-9]{2} [A-Z][a-z]{2} [0-9]{4} [0-9]{2}:[0-9]{2}:[0-9]{2} GMT", re.ASCII)


class InvalidResponse(Exception):  # noqa: N818  not HTTP as we accept it
    pass


class ReceiverResponse:
    """The response so far: if the rest fails, what was read stays. `head` is the beginning of the body."""

    __slots__ = ("head", "retry_after", "status")

    def __init__(self) -> None:
        self.status: int | None = None
        self.retry_after: str | None = None
        self.head = b""

    async def read(self, protocol: ResponseHandler, timing: AttemptTiming) -> None:
        for _ in range(1 + MOST_INTERIM):
            message, content = await protocol.read()
            if message.code >= 200 or message.code == SWITCHING_PROTOCOLS:
                break
        else:
            raise InvalidResponse("too many interim answers")
        timing.answered = perf_counter()
        self.status = message.code
        self.retry_after = message.headers.get("retry-after")
        read = bytearray()
        while not content.at_eof() and len(read) <= LARGEST_BODY:
            read += await content.readany()
            self.head = bytes(read[:HEAD])


def text(beginning: bytes) -> str | None:
    """None if it is not UTF-8. A truncated character is left out, and so is NUL, which PostgreSQL refuses."""
    try:
        return codecs.getincrementaldecoder("utf-8")().decode(beginning).replace("\0", "") or None
    except UnicodeDecodeError:
        return None


def retry_after(value: str, now: datetime) -> float | None:
    """Seconds to wait, from a number of them or a date; None if it is neither."""
    if SECONDS.fullmatch(value):
        return float(value)
    if not DATE.fullmatch(value):
        return None
    try:
        return max(0.0, (parsedate_to_datetime(value).astimezone(UTC) - now).total_seconds())
    except ValueError:
        return None
