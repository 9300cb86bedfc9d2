"""A page of the documentation as its reader uses it: code, tables, and commands that are pasted into a shell."""

import os
import re
import subprocess
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parents[1]
PART = re.compile(r"^#+ (?P<heading>[^\n]+)$|^```(?P<language>\w*)\n(?P<text>.*?)^```$", re.MULTILINE | re.DOTALL)
ROW = re.compile(r"^\|(.+)\|$", re.MULTILINE)
WITHIN = 60.0


@dataclass(frozen=True)
class Block:
    heading: str
    language: str
    text: str


@dataclass(frozen=True)
class Page:
    text: str

    @classmethod
    def of(cls, name: str) -> "Page":
        return cls((ROOT / name).read_text())

    def blocks(self, *languages: str) -> list[Block]:
        """The code blocks in their order, all of them or those of these languages."""
        found: list[Block] = []
        heading = ""
        for part in PART.finditer(self.text):
            heading = part["heading"] or heading
            if part["heading"] is None and (not languages or part["language"] in languages):
                found.append(Block(heading, part["language"], part["text"]))
        return found

    def table(self, first: str) -> list[list[str]]:
        """The rows of the table whose first column has this name, without their heads."""
        rows = [[cell.strip() for cell in row[1].split("|")] for row in ROW.finditer(self._from(first))]
        return rows[2:]

    def _from(self, first: str) -> str:
        """From the head of a table to its end."""
        begin = self.text.index(f"\n| {first} |") + 1
        return self.text[begin : self.text.index("\n\n", begin) + 1]


def pasted(command: str, folder: Path, env: Mapping[str, str]) -> str:
    """What a command prints, run as it is pasted into a shell where these variables are set."""
    inherited = {name: value for name, value in os.environ.items() if not name.startswith("GATEPASS_")}
    return subprocess.run(
        ["bash", "-euo", "pipefail", "-c", command],
        cwd=folder,
        env={**inherited, **env},
        check=True,
        capture_output=True,
        text=True,
        timeout=WITHIN,
    ).stdout
