"""One word for one idea: retired words and words that had two meanings do not come back."""

import io
import re
import tokenize
from pathlib import Path

import psycopg
import pytest

from tests.layout.tree import ROOT, modules, tracked

HERE = Path(__file__).parent.relative_to(ROOT)
# This folder names them; the acceptance scenarios have names of their own.
EXEMPT = (str(HERE), "tests/sdk/acceptance")
# Retired as names of files and folders. The word that replaced each is in the history of the layout.
RETIRED_FILES = frozenset(
    """
    admission announcing arrival asked auditing_off ceremony changes chores coming confirming counting
    demonstration desk destination door doors doomed drawing entrance environment examination explanation
    filling find finding forgetting furnishing gatehouse gatherer guard handing_out horizon house imagination incoming
    keeping keyring lane likeness listening lobby memory moody noting opening party place places presence printing
    programme reaching reception refusals resealing rolling sealing sharing showing_once signatures staging stand_ins
    stopping sweeping tally tower town trail trial trouble trying undoing upgrading upkeep vault watch ways welcome wire
    wire_name wishes witness
    """.split()
)
# Retired as parts of an identifier. A venue has doors: that word came back with `doors_open_at`.
RETIRED_WORDS = frozenset(
    """
    chore chores door gatehouse gatherer gatherers house houses keyring lobby reception reseal resealed resealing
    tower trail upkeep
    """.split()
)
RETIRED_PAIRS = ("retry_key", "retry_keys", "express_lane")
# "lane" is the priority of a webhook; a parallel batch is a flight, and two endpoints have a fast path.
LANES_IN = (
    "domain/webhooks",
    "worker",
    "migrations",
    "webhook",
    "subscriptions",
    "operate",
    "staff/password",
    "signing-in",
)
RETIRED_PHRASES = re.compile(
    r"\b(live doors?|both doors|one of the doors|door outwards|express lane|gatherer|gatehouse|retry[- ]keys?|upkeep"
    r"|reseal\w*|audit trail|audit rows?|keep(s|ing)? the house|rooms? further down)\b",
    re.IGNORECASE,
)


def words_of(identifier: str) -> list[str]:
    """`KeyRing_of` → key, ring, of."""
    return [word.lower() for word in re.findall(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])", identifier)]


def identifiers(path: Path) -> set[str]:
    source = (ROOT / path).read_text()
    return {
        token.string for token in tokenize.generate_tokens(io.StringIO(source).readline) if token.type == tokenize.NAME
    }


def retired_in(identifier: str) -> bool:
    words = words_of(identifier)
    return any(word in RETIRED_WORDS for word in words) or any(pair in "_".join(words) for pair in RETIRED_PAIRS)


@pytest.mark.parametrize(
    ("identifier", "expected"),
    [
        ("Gatehouse", True),
        ("house", True),
        ("DoorStream", True),
        ("LONGEST_RETRY_KEY", True),
        ("doors_open_at", False),
        ("household", False),
        ("trailing", False),
        ("idempotency_key", False),
    ],
)
def test_a_retired_word_is_seen(identifier: str, expected: bool) -> None:
    assert retired_in(identifier) is expected


def test_no_file_has_a_retired_name() -> None:
    names = {part.removeprefix("test_") for path in modules() for part in (*path.parts[:-1], path.stem)}
    assert {name for name in names if name.strip("_") in RETIRED_FILES} == set()


def test_no_identifier_has_a_retired_word() -> None:
    found = {
        f"{path}: {name}"
        for path in modules()
        if not str(path).startswith(EXEMPT)
        for name in identifiers(path)
        if retired_in(name)
    }
    assert found == set()


@pytest.mark.parametrize("suffix", [".py", ".sql", ".md", ".html", ".yaml", ".service"])
def test_no_text_has_a_retired_phrase(suffix: str) -> None:
    found = {
        f"{path}: {match.group()}"
        for path in tracked(suffix)
        if not str(path).startswith(EXEMPT) and path.name != "CHANGELOG.md" and "versions" not in path.parts
        for match in RETIRED_PHRASES.finditer((ROOT / path).read_text())
    }
    assert found == set()


def test_a_lane_is_the_priority_of_a_webhook() -> None:
    elsewhere = {
        str(path)
        for path in tracked(".py", ".md")
        if not str(path).startswith(EXEMPT) and not any(part in str(path) for part in LANES_IN)
        if re.search(r"\blanes?\b", (ROOT / path).read_text(), re.IGNORECASE)
    }
    assert elsewhere <= {"ARCHITECTURE.md", "CHANGELOG.md"}


def test_tables_and_modules_that_had_two_meanings(database_url: str) -> None:
    """`audit` was the request log and `change` the audit log."""
    with psycopg.connect(database_url) as connection:
        tables = {name for (name,) in connection.execute("SELECT relname FROM pg_class WHERE relkind IN ('r', 'p')")}
    assert not [name for name in tables if re.fullmatch(r"(audit|changes?)(_\d+|_default)?", name)]
    assert {"request_log", "audit_log"} <= tables
    assert not [path for path in modules() if path.stem in {"audit", "change", "changes"}]


def test_metrics_have_no_retired_word() -> None:
    names = {
        name
        for path in modules()
        if path.parts[0] == "gatepass"
        for name in re.findall(r'"(gatepass_[a-z_]+)"', (ROOT / path).read_text())
    }
    assert len(names) > 10
    assert {name for name in names if retired_in(name) or "audit" in name} == set()
