"""Values from real generators: hypothesis, and schemathesis by our own OpenAPI document."""

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, TypeVar
from urllib.parse import urlencode

import requests
import schemathesis
from hypothesis import HealthCheck, Phase, given, seed, settings
from hypothesis import strategies as st
from schemathesis import GenerationMode
from schemathesis.core.errors import SchemathesisError
from schemathesis.core.result import Ok

from tests.fuzz.corpus import API
from tests.fuzz.template import Template, header_value

T = TypeVar("T")

# Random, and the cases are to be the same each time.
TEST_CASE: Final = "x-schemathesis-testcaseid"
DOCUMENT: Final = Path(__file__).parents[2] / "docs" / "openapi.json"
TEXT = st.text(st.characters(exclude_categories=[]), max_size=60)
PLAIN = st.text(st.characters(exclude_categories=["Cs"]), max_size=60)
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | TEXT,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(TEXT, inner, max_size=3),
    max_leaves=6,
)
FIELDS = st.sampled_from(
    [
        "event_id",
        "card_number",
        "token",
        "gate",
        "scanner_id",
        "occurred_at",
        "url",
        "types",
        "description",
        "status",
        "x",
    ]
)
TOKENS = st.from_regex(r"SVC1\.[A-Za-z0-9_-]{0,70}\.[0-9]{0,14}\.[A-Za-z0-9_-]{80,90}", fullmatch=True) | PLAIN
QUERIES = st.dictionaries(
    st.sampled_from(["cursor", "limit", "after", "status", "token", "q", "since", "x"]), PLAIN, min_size=1, max_size=3
)
CELLS = st.text(st.sampled_from("\",;\t\r\n'=+-@ aé\0\ufeff😀"), max_size=30)


@dataclass(frozen=True)
class Pools:
    bodies: list[bytes]
    tokens: list[bytes]
    queries: list[bytes]
    files: list[bytes]
    cases: list[Template]


def fill(number: int, size: int) -> Pools:
    """The same values for the same number."""
    return Pools(
        bodies=_drawn(
            st.dictionaries(FIELDS, VALUES, max_size=6).map(lambda body: json.dumps(body).encode()), number, size
        ),
        tokens=_drawn(TOKENS.map(lambda text: text.encode()), number, size),
        queries=_drawn(QUERIES.map(lambda query: urlencode(query).encode()), number, size),
        files=_drawn(st.lists(CELLS, max_size=40).map(lambda cells: ",".join(cells).encode()), number, size),
        cases=_cases(number, size // 4),
    )


def _drawn(strategy: st.SearchStrategy[T], number: int, size: int) -> list[T]:
    drawn: list[T] = []

    @seed(number)
    @settings(
        max_examples=size,
        database=None,
        deadline=None,
        phases=[Phase.generate],
        suppress_health_check=[HealthCheck.too_slow, HealthCheck.filter_too_much, HealthCheck.data_too_large],
    )
    @given(strategy)
    def draw(value: T) -> None:
        drawn.append(value)

    draw()
    return drawn


def _cases(number: int, size: int) -> list[Template]:
    """Cases of every operation, some that fit the description and some that do not."""
    document: dict[str, Any] = json.loads(DOCUMENT.read_text())
    schema = schemathesis.openapi.from_dict(document)
    found: list[Template] = []
    operations: list[Any] = [result.ok() for result in schema.get_all_operations() if isinstance(result, Ok)]
    for operation in operations:
        for mode in (GenerationMode.POSITIVE, GenerationMode.NEGATIVE):
            try:
                cases = _drawn(
                    operation.as_strategy(generation_mode=mode), number, max(4, size // len(operations) // 2)
                )
            except (SchemathesisError, ValueError):
                continue  # an operation without anything that could be wrong
            found += [template for case in cases if (template := _template(case)) is not None]
    return found


def _template(case: Any) -> Template | None:
    """What it would send, without the key; None if it cannot be sent at all."""
    try:
        sent = case.as_transport_kwargs(base_url="http://gate")
        prepared = requests.Request(**{name: sent[name] for name in REQUEST if name in sent}).prepare()
    except Exception:  # noqa: BLE001  whatever `requests` refuses to send
        return None
    body = prepared.body or b""
    path = (prepared.path_url or "/").encode("latin-1", "replace")
    headers = tuple(
        (_bytes(name), header_value(_bytes(value)))
        for name, value in prepared.headers.items()
        if name.lower() not in ("content-length", "host", "authorization", "user-agent", "transfer-encoding", TEST_CASE)
    )
    path = path if path.startswith(API) else API + path
    return Template(prepared.method.encode() if prepared.method else b"GET", path, headers, _bytes(body))


REQUEST: Final = ("method", "url", "headers", "params", "json", "data", "cookies", "files")


def _bytes(text: Any) -> bytes:
    return text if isinstance(text, bytes) else str(text).encode("utf-8", "surrogateescape")
