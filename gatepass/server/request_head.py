"""The rules for the head of a request: which headers count once, and what makes a head malformed.

A header that decides something must mean the same to us and to every proxy in front of us. One that occurs twice does
not: some take the first, some the last, some both.
"""

import re
from collections.abc import Sequence
from functools import lru_cache
from typing import Final
from urllib.parse import unquote

import httptools

from gatepass.base.client_ip import FORWARDED_FOR

# Request line and headers together, in bytes. A card token in a query takes less than 1 KiB.
MAX_HEAD: Final = 64 * 1024
# A path with its query, in bytes. Parsing 64 KiB of parameters would hold the event loop for 30 ms.
MAX_TARGET: Final = 8 * 1024

# Bits, so that one integer says which of them a head has. The first three have a value that we check.
HOST: Final = 1
TRANSFER_ENCODING: Final = 2
EXPECT: Final = 4
CHECKED: Final = HOST | TRANSFER_ENCODING | EXPECT
ONCE: Final[dict[bytes, int]] = {
    b"host": HOST,
    b"transfer-encoding": TRANSFER_ENCODING,
    b"expect": EXPECT,
    b"content-length": 8,
    b"content-type": 16,
    b"authorization": 32,
    b"idempotency-key": 64,
    b"cookie": 128,
    b"origin": 256,
    b"sec-fetch-site": 512,
    b"if-match": 2048,
}
# From a trusted proxy, this decides too. From anybody else we do not read it.
ONCE_FROM_PROXY: Final = {**ONCE, FORWARDED_FOR: 1024}

# Optional whitespace (RFC 9110, 5.6.3).
OWS: Final = b" \t"
HOST_VALUE: Final = re.compile(rb"(?:[\w.~!$&'()*+;=%-]*|\[[0-9A-Fa-f:.]+\])(?::\d{0,5})?", re.ASCII)


class MalformedRequest(Exception):  # noqa: N818  its text is the sentence that the caller reads
    """The request is not valid HTTP, or means different things to different readers."""


def check_head(version: str, seen: int, target: bytes) -> None:
    if len(target) > MAX_TARGET:
        raise MalformedRequest(f"The URL of the request is longer than {MAX_TARGET // 1024} KiB.")
    if version == "1.1":
        if not seen & HOST:
            raise MalformedRequest("The request has no Host header.")
    elif version != "1.0":
        raise MalformedRequest("Use HTTP/1.1 or HTTP/1.0.")
    elif seen & TRANSFER_ENCODING:
        raise MalformedRequest("HTTP/1.0 has no Transfer-Encoding.")


def check_once(name: bytes, bit: int, seen: int) -> None:
    if seen & bit:
        raise MalformedRequest(f"The request has more than one header {name.decode('ascii')}.")


def check_size(url: bytes, headers: Sequence[tuple[bytes, bytes]]) -> None:
    # Four bytes for a colon, a space and the end of a line.
    if len(url) + sum(len(name) + len(value) + 4 for name, value in headers) > MAX_HEAD:
        raise TooLarge


def check_value(bit: int, value: bytes) -> None:
    if bit == HOST and not _is_host(value):
        raise MalformedRequest("The Host header is not a host.")
    if bit == TRANSFER_ENCODING and value.lower() != b"chunked":
        raise MalformedRequest("The only Transfer-Encoding is chunked.")


def path_of(target: bytes) -> str | None:
    """The path as applications see it; None if it has none."""
    try:
        return unquote(httptools.parse_url(target).path.decode("ascii"))
    except (httptools.HttpParserInvalidURLError, UnicodeDecodeError, AttributeError):
        return None


@lru_cache(1024)
def _is_host(value: bytes) -> bool:
    return HOST_VALUE.fullmatch(value) is not None


class TooLarge(MalformedRequest):
    def __init__(self) -> None:
        super().__init__(f"The headers of the request are larger than {MAX_HEAD // 1024} KiB.")
