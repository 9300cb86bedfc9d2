"""The page about security names only what exists, and assesses each requirement of ASVS 5.0, levels 1 and 2, once."""

import re
from collections import Counter
from collections.abc import Iterator

import pytest

from tests.markdown_page import ROOT, Page

PAGE = Page.of("docs/security.md")
ATTACKS = ROOT / "tests" / "attacks"
# The requirements of levels 1 and 2: the numbers of OWASP ASVS 5.0.0, and nothing else of it.
REQUIREMENTS = """
    1.1.1-2 1.2.1-9 1.3.1-11 1.4.1-3 1.5.1-2 2.1.1-3 2.2.1-3 2.3.1-4 2.4.1 3.2.1-2 3.3.1-4 3.4.1-6 3.5.1-5 3.7.1-2
    4.1.1-3 4.2.1 4.3.1-2 4.4.1-4 5.1.1 5.2.1-3 5.3.1-2 5.4.1-3 6.1.1-3 6.2.1-12 6.3.1-4 6.4.1-4 6.5.1-5 6.6.1-3 6.8.1-4
    7.1.1-3 7.2.1-4 7.3.1-2 7.4.1-5 7.5.1-2 7.6.1-2 8.1.1-2 8.2.1-3 8.3.1 8.4.1 9.1.1-3 9.2.1-4
    10.1.1-2 10.2.1-2 10.3.1-4 10.4.1-11 10.5.1-5 10.6.1-2 10.7.1-3 11.1.1-2 11.2.1-3 11.3.1-3 11.4.1-4 11.5.1 11.6.1
    12.1.1-3 12.2.1-2 12.3.1-4 13.1.1 13.2.1-5 13.3.1-2 13.4.1-5 14.1.1-2 14.2.1-4 14.3.1-3
    15.1.1-3 15.2.1-3 15.3.1-7 16.1.1 16.2.1-5 16.3.1-4 16.4.1-3 16.5.1-3 17.1.1 17.2.1-4 17.3.1-2
"""
STATES = ("met", "partly", "not met")
MOST_WORDS = 12

Number = tuple[int, ...]

ROW = re.compile(r"^\| (\d+\.\d+\.\d+) \| ([^|]+) \| \**(\w[\w ]*)\**: ([^|]+) \|$", re.MULTILINE)
NUMBERED = re.compile(r"^\| \d+\.\d+\.\d+ ", re.MULTILINE)
CHAPTER = re.compile(r"^### V(\d+): ", re.MULTILINE)
LEFT_OUT = re.compile(r"^- \*\*([\d., to]+)\*\*: \w", re.MULTILINE)
# A path from the root, or a name alone: an attack, or a file of the root.
NAMED = re.compile(r"`((?:bench|deploy|docs|gatepass|sdk|tests|tools)/[\w./-]+|[\w.-]+\.(?:json|md|py|toml|txt))`")
TARGET = re.compile(r"`make ([a-z0-9-]+)`")
LINK = re.compile(r"\]\((?:#[\w-]+|[\w/-]+\.md)")


def number(text: str) -> Number:
    return tuple(map(int, text.split(".")))


def written(numbers: list[Number]) -> list[str]:
    return [".".join(map(str, one)) for one in numbers]


def all_requirements() -> list[Number]:
    found: list[Number] = []
    for span in REQUIREMENTS.split():
        first, _, last = span.partition("-")
        *section, begin = number(first)
        found += [(*section, end) for end in range(begin, int(last or begin) + 1)]
    return found


def assessed(text: str) -> list[Number]:
    return [number(row[0]) for row in ROW.findall(text)]


def left_out(text: str) -> list[Number]:
    """The numbers under "Not applicable", `1.2.6 to 1.2.8` as all three."""
    found: list[Number] = []
    for line in LEFT_OUT.findall(text):
        for span in line.split(", "):
            first, _, last = span.partition(" to ")
            found += [one for one in all_requirements() if number(first) <= one <= number(last or first)]
    return found


def exists(name: str) -> bool:
    if name.startswith("test_"):
        return len(list(ATTACKS.rglob(name))) == 1
    return (ROOT / name).exists()


def targets() -> set[str]:
    return set(re.findall(r"^([a-z0-9-]+):", (ROOT / "Makefile").read_text(encoding="utf-8"), re.MULTILINE))


def faults(text: str) -> Iterator[str]:
    """What is wrong with the tables and the list."""
    if len(ROW.findall(text)) != len(NUMBERED.findall(text)):
        yield "a row cannot be read"
    for asked, words, state, reason in ROW.findall(text):
        if state not in STATES:
            yield f"{asked}: not a state"
        if len(words.split()) > MOST_WORDS:
            yield f"{asked}: too long"
        if state == "met" and not (NAMED.search(reason) or LINK.search(reason)):
            yield f"{asked}: met by nothing"
    rows, others = assessed(text), left_out(text)
    for numbers in (rows, others):
        if numbers != sorted(numbers):
            yield "not sorted"
    counted = Counter(rows + others)
    yield from (f"{one}: twice" for one in written([one for one, times in counted.items() if times > 1]))
    yield from (f"{one}: missing" for one in written([one for one in all_requirements() if one not in counted]))
    yield from (f"{one}: unknown" for one in written(sorted(set(counted) - set(all_requirements()))))
    for chapter, part in chapters(text):
        yield from (f"{one}: in another chapter" for one in written([n for n in assessed(part) if n[0] != chapter]))


def chapters(text: str) -> Iterator[tuple[int, str]]:
    _, *parts = CHAPTER.split(text)
    yield from zip(map(int, parts[::2]), parts[1::2], strict=True)


def test_levels_one_and_two_have_253_requirements() -> None:
    assert len(all_requirements()) == 253
    assert all_requirements() == sorted(set(all_requirements()))


def test_each_requirement_is_assessed_once() -> None:
    assert list(faults(PAGE.text)) == []


def test_the_counts_are_right() -> None:
    states = Counter(state for _, _, state, _ in ROW.findall(PAGE.text))
    assert (
        f"Of the 253 requirements, {states.total()} apply: {states['met']} are met, {states['partly']} partly, "
        f"{states['not met']} not. The other {len(left_out(PAGE.text))} "
    ) in PAGE.text


def test_every_file_that_is_named_exists() -> None:
    named = sorted(set(NAMED.findall(PAGE.text)))
    assert len(named) > 100
    assert [name for name in named if not exists(name)] == []


def test_every_target_that_is_named_exists() -> None:
    named = sorted(set(TARGET.findall(PAGE.text)))
    assert len(named) > 5
    assert [name for name in named if name not in targets()] == []


@pytest.mark.parametrize(
    ("before", "after", "fault"),
    [
        ("| 4.2.1 | ", "| 4.2.9 | ", "4.2.9: unknown"),
        ("| 4.2.1 | ", "| 4.1.3 | ", "4.1.3: twice"),
        ("| 4.2.1 | ", "| 4.2.1 ", "a row cannot be read"),
        ("| 4.2.1 | ", "| 4.2.1 | one two three four five six seven ", "4.2.1: too long"),
        ("| met: `test_framing.py`, `test_trailers.py` |", "| met: somehow |", "4.2.1: met by nothing"),
        ("| met: `test_framing.py`, `test_trailers.py` |", "| yes: `test_framing.py` |", "4.2.1: not a state"),
        ("- **5.2.3**: ", "- **5.2.2**: ", "5.2.3: missing"),
        ("- **5.2.3**: ", "- **1.2.6**: ", "not sorted"),
        ("### V5: Files", "### V6: Files", "5.1.1: in another chapter"),
    ],
)
def test_a_fault_is_found(before: str, after: str, fault: str) -> None:
    assert PAGE.text.count(before) == 1
    assert fault in list(faults(PAGE.text.replace(before, after)))


def test_a_file_that_is_not_there_is_found() -> None:
    assert exists("tests/docs/test_links.py")
    assert not exists("tests/docs/test_nothing.py")
    assert not exists("test_reference.py"), "it is no attack"
    assert "nothing" not in targets()
