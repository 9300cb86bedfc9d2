"""Every regular expression of the service, and every parser on the event loop, is linear in its input."""

import importlib
import inspect
import pkgutil
import re
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from datetime import datetime
from types import ModuleType
from urllib.parse import parse_qsl

import msgspec
import pytest
from python_multipart.multipart import parse_options_header
from starlette.requests import cookie_parser

import gatepass
from gatepass.api.request import LARGEST_BODY, decoded, moment
from gatepass.api.routes.scans import DECODER
from gatepass.base.errors import Refusal
from gatepass.base.paging import read_cursor_text
from gatepass.base.text import original_cell, safe_cell
from gatepass.base.web.assets import takes_gzip
from gatepass.domain.cards import normalize_number
from gatepass.domain.cards.token import verify
from gatepass.domain.events.image_format import MOST_BYTES, read_image
from gatepass.domain.imports.columns import guess
from gatepass.domain.staff.browser_name import browser_name
from gatepass.domain.webhooks.verification import read_headers
from gatepass.server.http_protocol import MAX_HEAD
from gatepass.studio.web.forms import LONGEST_TYPE

UNITS = (
    " ", "\t", "a", "A", "0", "-", "_", ".", ",", ";", "'", '"', "=", "/", "//", "@", "%41", ":", "\\", "\n", "a.",
    "a@", "0x", "a,", ", ", ";q=1", "gzip ", "=;", "\"'", "a-", "::", "SVC1.", "é", "&", "a=b;", "[", "Bearer ",
)  # fmt: skip
HEADS = ("", "https://", "Bearer ", "/studio/", "svc_live_", "gzip;q=", "/covers/", "SVC1.", "t=1,v1=", ",")
FEET = ("", "!", "\n")
SHORT, LONG = 1_000, 8_000
# Eight times the text may take sixteen times as long, and not the sixty-four of a quadratic one.
MOST = 24
# Below this the clock says nothing.
SOON = 0.001


def modules() -> Iterator[ModuleType]:
    for found in pkgutil.walk_packages(gatepass.__path__, "gatepass."):
        if ".migrations" not in found.name and not found.name.endswith("__main__"):
            yield importlib.import_module(found.name)


def patterns() -> dict[str, tuple[re.Pattern[str], list[str]]]:
    """Each compiled expression, with the methods by which its module uses it."""
    found: dict[str, tuple[re.Pattern[str], list[str]]] = {}
    for module in modules():
        source = inspect.getsource(module)
        for name, value in vars(module).items():
            if isinstance(value, re.Pattern) and f"{name}: Final" in source:
                methods = sorted(
                    set(re.findall(rf"\b{name}\.(fullmatch|match|search|sub|finditer|findall|split)\(", source))
                )
                found[f"{module.__name__.removeprefix('gatepass.')}.{name}"] = (value, methods)
    return found


PATTERNS = patterns()


def seconds(work: Callable[[str], object], text: str, times: int = 3) -> float:
    """The least of three, in the CPU time of this thread: others on the machine do not count."""
    taken: list[float] = []
    for _ in range(times):
        began = time.thread_time()
        with suppress(Refusal, ValueError, msgspec.DecodeError):
            work(text)
        taken.append(time.thread_time() - began)
    return min(taken)


def assert_linear(work: Callable[[str], object], unit: str, *, head: str = "", foot: str = "") -> None:
    text, brief = (head + unit * (length // len(unit)) + foot for length in (LONG, SHORT))
    if seconds(work, text, 1) <= SOON:
        return
    taken: list[tuple[float, float]] = []
    # A processor that slows down in between may say so once. A quadratic expression says it each time.
    while len(taken) < 4 and (not taken or taken[-1][1] >= MOST * taken[-1][0]):
        taken.append((seconds(work, brief), seconds(work, text)))
    short, long = taken[-1]
    assert long < MOST * short, f"{head!r} + {unit!r} * n + {foot!r}: {short * 1000:.1f} ms, then {long * 1000:.1f} ms"


@pytest.mark.parametrize("name", PATTERNS)
def test_an_expression(name: str) -> None:
    pattern, methods = PATTERNS[name]
    # A helper gets the others, and matches the whole text.
    if isinstance(pattern.pattern, bytes):
        pattern = re.compile(pattern.pattern.decode("latin-1"), re.ASCII)
    for method in methods or ["fullmatch"]:
        work = (lambda text: pattern.sub("", text)) if method == "sub" else getattr(pattern, method)
        if method == "finditer":
            work = pattern.findall
        for unit in UNITS:
            for head in HEADS:
                for foot in FEET:
                    assert_linear(work, unit, head=head, foot=foot)


def test_the_expressions_are_found() -> None:
    assert len(PATTERNS) > 30


def test_a_quadratic_expression_is_found_out() -> None:
    with pytest.raises(AssertionError, match="ms"):
        assert_linear(re.compile("a+b").search, "a")


# What parses text of others on the event loop: the most bytes that it is given, and the parser.
ON_THE_LOOP: dict[str, tuple[int, Callable[[str], object]]] = {
    "a JSON body": (LARGEST_BODY, lambda text: decoded(text.encode(), DECODER)),
    "a query": (MAX_HEAD, lambda text: parse_qsl(text, keep_blank_values=True)),
    "a card token": (MAX_HEAD, lambda text: verify(text, [])),
    "a card number": (LARGEST_BODY, normalize_number),
    "a cursor": (MAX_HEAD, lambda text: read_cursor_text(text, digits=17)),
    "a time": (LARGEST_BODY, lambda text: moment(text, "occurred_at")),
    "cookies": (MAX_HEAD, cookie_parser),
    "Content-Type": (LONGEST_TYPE, parse_options_header),
    "Accept-Encoding": (MAX_HEAD, takes_gzip),
    "User-Agent": (MAX_HEAD, browser_name),
    "a date field": (MAX_HEAD, datetime.fromisoformat),
    "headings of a file": (50 * 100, lambda text: guess([text])),
    "a cell of an export": (10 * 1024, lambda text: original_cell(safe_cell(text))),
    "headers for the playground": (MAX_HEAD, read_headers),
    "a cover": (MOST_BYTES, lambda text: read_image(b"\xff\xd8\xff" + text.encode("latin-1", "replace"))),
}
# The longest that one text may hold the loop. A scan waits for it.
LONGEST = 0.1


@pytest.mark.parametrize("name", ON_THE_LOOP)
def test_a_parser_on_the_loop(name: str) -> None:
    largest, work = ON_THE_LOOP[name]
    for unit in UNITS:
        assert_linear(work, unit)
        assert seconds(work, unit * (largest // len(unit.encode()))) < LONGEST, unit
