"""A page of the documentation as its reader sees it: headings, code, tables and links."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache, cached_property
from pathlib import Path

from markdown_it import MarkdownIt
from markdown_it.token import Token

ROOT = Path(__file__).parents[1]
ROW = re.compile(r"^\|(.+)\|$", re.MULTILINE)
TITLE = re.compile(r'title="([^"]+)"')
NOTE = re.compile(r"\s*<!-- (.+?) -->\s*")
NOT_RUN = "not run: "
KEEPS_RUNNING = "keeps running"
IN_PLACE_OF = ", in place of "
PRINTED_BY = "printed by "
TABS, END_OF_TABS = "tabs", "end of tabs"
LABEL = re.compile(r"\*\*([^*]+)\*\*")
GOES_ON = re.compile(r"^<!-- goes on from (\S+) -->$", re.MULTILINE)


@dataclass(frozen=True)
class Block:
    """`title` is the file name to save it as; `note` the HTML comment right before it; `tab` the tab that it is in."""

    heading: str
    language: str
    text: str
    line: int = 0
    title: str = ""
    note: str = ""
    tab: str = ""

    @property
    def not_run(self) -> str:
        """The reason why it is not run; empty if it is."""
        return self.note.removeprefix(NOT_RUN) if self.note.startswith(NOT_RUN) else ""

    @property
    def keeps_running(self) -> bool:
        """Whether the reader leaves it running, in a terminal of its own."""
        return self.note.startswith(KEEPS_RUNNING)

    @property
    def in_place_of(self) -> str:
        """A part of the command that is stopped before this one is started."""
        return self.note.partition(IN_PLACE_OF)[2]

    @property
    def printed_by(self) -> str:
        """A part of the running command that prints this."""
        return self.note.removeprefix(PRINTED_BY) if self.note.startswith(PRINTED_BY) else ""


@dataclass(frozen=True)
class Page:
    text: str
    name: str = ""

    @staticmethod
    @cache
    def of(name: str) -> "Page":
        return Page((ROOT / name).read_text(encoding="utf-8"), name)

    @property
    def goes_on_from(self) -> str:
        """The page that comes before this one."""
        found = GOES_ON.search(self.text)
        return found[1] if found else ""

    @cached_property
    def tokens(self) -> list[Token]:
        return MarkdownIt("commonmark").enable("table").parse(self.text)

    def blocks(self, *languages: str) -> list[Block]:
        """The code blocks in their order, all of them or those of these languages. An indented one has no language."""
        return [block for block in self._blocks() if not languages or block.language in languages]

    def _blocks(self) -> Iterator[Block]:
        heading = note = ""
        before = None
        for token, tab, note_of in zip(self.tokens, self._tabs(), self._notes(), strict=True):
            if before is not None and before.type == "heading_open":
                heading = token.content
            elif token.type in ("fence", "code_block"):
                language, _, rest = token.info.partition(" ")
                title = TITLE.search(rest)
                line = (token.map or [0])[0] + 1
                yield Block(heading, language, token.content, line, title[1] if title else "", note, tab)
            before, note = token, note_of

    def groups(self) -> list[list[str]]:
        """The labels of each group of tabs, in their order."""
        found: list[list[str]] = []
        for tab, note in zip(self._tabs(), self._notes(), strict=True):
            if note == TABS:
                found.append([])
            elif tab and tab not in found[-1]:
                found[-1].append(tab)
        return found

    def _notes(self) -> Iterator[str]:
        """Of each token, what it says if it is a comment."""
        for token in self.tokens:
            found = NOTE.fullmatch(token.content) if token.type == "html_block" else None
            yield found[1] if found else ""

    def _tabs(self) -> Iterator[str]:
        """Of each token, the label of the tab that it is in."""
        tab, among_tabs = "", False
        for token, note in zip(self.tokens, self._notes(), strict=True):
            if note in (TABS, END_OF_TABS):
                assert among_tabs is (note == END_OF_TABS), f"{self.name}: tabs do not begin and end in turn"
                among_tabs, tab = note == TABS, ""
            elif among_tabs and token.type == "inline" and (label := LABEL.fullmatch(token.content)):
                tab = label[1]
            yield tab
        assert not among_tabs, f"{self.name}: the tabs have no end"

    def table(self, first: str) -> list[list[str]]:
        """The rows of the table whose first column has this name, without their heads."""
        rows = [[cell.strip() for cell in row[1].split("|")] for row in ROW.finditer(self._from(first))]
        return rows[2:]

    def _from(self, first: str) -> str:
        """From the head of a table to its end."""
        begin = self.text.index(f"\n| {first} |") + 1
        return self.text[begin : self.text.index("\n\n", begin) + 1]

    def headings(self) -> list[str]:
        return [
            token.content for before, token in zip(self.tokens, self.tokens[1:], strict=False)
            if before.type == "heading_open"
        ]  # fmt: skip

    def links(self) -> list[str]:
        """The targets of its links and pictures."""
        return [
            str(child.attrs.get("href") or child.attrs.get("src"))
            for token in self.tokens
            for child in token.children or []
            if child.type in ("link_open", "image")
        ]


def pages() -> list[Page]:
    """Every page of the documentation."""
    names = sorted(str(path.relative_to(ROOT)) for path in (ROOT / "docs").rglob("*.md"))
    elsewhere = [
        "README.md",
        "sdk/README.md",
        "sdk-js/README.md",
        *(str(path.relative_to(ROOT)) for path in (ROOT / "deploy").rglob("*.md")),
    ]
    return [Page.of(name) for name in [*names, *elsewhere] if (ROOT / name).exists()]
