"""Follow a page: each of its blocks is run, saved or compared, from the first to the last."""

import json
import re
import time
import tomllib
from collections.abc import Callable, Mapping
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import yaml

from gatepass.base.settings import Settings
from tests.docs.output_matcher import alike, json_alike
from tests.docs.terminal import Failed, Terminal
from tests.markdown_page import Block, Page
from tests.postgres import free_port

# Ports that pages name. A test takes free ports instead, and the output is compared with those of the page.
PORTS = ("8000", "9000", "9001", "9464", "9465")
RUN = ("bash", "python")
COMPARED: dict[str, Callable[[str, str], bool]] = {"json": json_alike, "text": alike}
# A saved file must be of the type of its name. Programs are checked by running them.
PARSED: dict[str, Callable[[str], Any]] = {
    "toml": tomllib.loads,
    "yaml": yaml.safe_load,
    "json": json.loads,
}
SAVED = ("ini", "python", "javascript", *PARSED)
# A command that only reads: if its output comes too early, it is run once more.
READS = re.compile(
    r"curl\b(?!.* -[dXT]\b)|(?!.*\b(?:import|def|try)\b).*client\.[a-z_.]+\.(?:list|deliveries)\(", re.DOTALL
)
TOO_EARLY = 60.0
A_MOMENT = 0.1


@dataclass
class Reader:
    """A reader with a folder, a terminal, and one more terminal for each command that keeps running."""

    folder: Path
    env: Mapping[str, str]
    opened: ExitStack
    ports: dict[str, str] = field(default_factory=lambda: {port: str(free_port()) for port in PORTS})
    running: dict[str, Terminal] = field(default_factory=dict[str, Terminal])
    last: Block | None = None

    def __post_init__(self) -> None:
        self.terminal = self._new_terminal()

    def follow(self, page: Page, tab: str = "") -> None:
        """Where a page has tabs, its reader stays with this one."""
        blocks = [block for block in page.blocks() if block.tab in ("", tab)]
        for at, block in enumerate(blocks):
            try:
                self._take(block, blocks[at + 1 :])
            except AssertionError as error:
                raise AssertionError(f"{page.name}:{block.line}: {error}") from error

    def _take(self, block: Block, later: list[Block]) -> None:
        if block.not_run:
            return
        if block.title:
            assert any(block.title in other.text for other in later), f"nothing uses {block.title}"
            self._save(block)
        elif block.keeps_running:
            self.last = block
            self._leave_running(block)
        elif block.language in RUN:
            self.last = block
            self._run(block)
            shown = bool(later) and later[0].language in COMPARED
            assert shown or '{"error":' not in self.terminal.since(), self.terminal.since()
        elif block.language in COMPARED:
            self._compare(block)
        else:
            raise AssertionError(f"nobody knows how to run {block.language or 'a block without a language'!r}")

    def _run(self, block: Block) -> None:
        run = self.terminal.paste if block.language == "bash" else self.terminal.python
        deadline = time.monotonic() + TOO_EARLY
        while True:
            try:
                run(self.mapped(block.text))
            except Failed:
                if not READS.match(block.text) or time.monotonic() > deadline:
                    raise
                time.sleep(A_MOMENT)
            else:
                return

    def _leave_running(self, block: Block) -> None:
        if block.in_place_of:
            self._running(block.in_place_of).close()
        terminal = self.running[block.text] = self._new_terminal()
        terminal.open(self.mapped(block.text))

    def _save(self, block: Block) -> None:
        assert block.language in SAVED, f"nobody knows what {block.language!r} is"
        parse = known_settings if block.language == "ini" else PARSED.get(block.language, str)
        parse(block.text)
        (self.folder / block.title).write_text(self.mapped(block.text))

    def _compare(self, block: Block) -> None:
        """At once, or as soon as it is printed."""
        assert self.last is not None, "nothing was run before this"
        terminal = self._where(block)

        def as_shown(printed: str) -> bool:
            return COMPARED[block.language](block.text, self.unmapped(printed))

        deadline = time.monotonic() + TOO_EARLY
        while not terminal.wait_until(as_shown, A_MOMENT) and time.monotonic() < deadline:
            if terminal is self.terminal and READS.match(self.last.text):
                self._run(self.last)
        printed = self.unmapped(terminal.since())
        assert as_shown(printed), f"shown:\n{block.text}\nprinted:\n{printed}"
        terminal.read_so_far()

    def _where(self, block: Block) -> Terminal:
        """The terminal that prints it."""
        assert self.last is not None
        wanted = block.printed_by or (self.last.text if self.last.keeps_running else "")
        return self._running(wanted) if wanted else self.terminal

    def _running(self, part: str) -> Terminal:
        found = [terminal for command, terminal in self.running.items() if part in command]
        assert found, f"{part!r} does not run"
        return found[-1]

    def mapped(self, text: str) -> str:
        for port, free in self.ports.items():
            text = re.sub(rf"\b{port}\b", free, text)
        return text

    def unmapped(self, text: str) -> str:
        for port, free in self.ports.items():
            text = re.sub(rf"\b{free}\b", port, text)
        return text

    def _new_terminal(self) -> Terminal:
        return self.opened.enter_context(Terminal(self.folder, self.env))


def known_settings(text: str) -> None:
    """A misspelt setting is ignored without an error, so a page must not have one."""
    names = [line.partition("=")[0] for line in text.splitlines() if line and not line.startswith("#")]
    ours = {f"GATEPASS_{name.upper()}" for name in Settings.model_fields}
    assert names, "no settings"
    assert set(names) <= ours, f"no such setting: {set(names) - ours}"
