"""What each suite took when it was last measured, and when the night last ran it: record.json, kept with the code.

`python -m tools.suites keep` writes into it what the last run measured here.
"""

import json
from dataclasses import asdict, dataclass, field
from pathlib import Path

FILE = Path(__file__).with_name("record.json")


@dataclass(frozen=True)
class Outcome:
    """One run of one suite."""

    commit: str
    at: str
    code: int
    wall: float
    cpu: float
    passed: int = 0
    failed: int = 0
    skipped: int = 0


@dataclass
class Record:
    submission: dict[str, Outcome] = field(default_factory=dict[str, Outcome])
    night: dict[str, Outcome] = field(default_factory=dict[str, Outcome])

    def last_night(self, name: str) -> str | None:
        """The commit at which the night ran this suite without a failure."""
        ran = self.night.get(name)
        return ran.commit if ran and ran.code == 0 else None

    def write(self, file: Path = FILE) -> None:
        file.write_text(json.dumps(asdict(self), indent=1, sort_keys=True) + "\n")


def read(file: Path = FILE) -> Record:
    if not file.exists():
        return Record()
    text = json.loads(file.read_text())
    return Record(
        *({name: Outcome(**ran) for name, ran in text.get(kind, {}).items()} for kind in ("submission", "night"))
    )
