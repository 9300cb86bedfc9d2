"""The suites, and which of them a change runs: tests/suites.toml, read."""

import tomllib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

MAP = Path(__file__).parents[2] / "tests" / "suites.toml"


@dataclass(frozen=True, eq=False)
class Suite:
    name: str
    # What a submission runs, or nothing for what only the night runs.
    run: str = ""
    # What the night runs, if it is not the same.
    night: str = ""
    always: bool = False
    # How many of the two cores it uses: two suites of one core run beside each other.
    cores: int = 2
    # Its own files, and what it reads beside them.
    tests: Sequence[str] = ()
    paths: Sequence[str] = ()

    def reads(self, path: str) -> bool:
        return within(path, (*self.tests, *self.paths))


@dataclass(frozen=True)
class SuiteMap:
    suites: tuple[Suite, ...]
    everything: Sequence[str]

    @property
    def submission(self) -> list[Suite]:
        return [suite for suite in self.suites if suite.run]

    def selects_everything(self, path: str) -> bool:
        """What everything rests on, and what the map does not know."""
        known = any(suite.reads(path) for suite in self.suites)
        return within(path, self.everything) or not known

    def is_chosen(self, suite: Suite, changed: Iterable[str]) -> bool:
        return suite.always or any(self.selects_everything(path) or suite.reads(path) for path in changed)


def within(path: str, places: Sequence[str]) -> bool:
    """A place is a file, or a folder if it ends with a slash."""
    return any(path == place or (place.endswith("/") and path.startswith(place)) for place in places)


def suite_map(file: Path = MAP) -> SuiteMap:
    text = tomllib.loads(file.read_text())
    suites = tuple(Suite(name=name, **values) for name, values in text["suite"].items())
    return SuiteMap(suites, text["everything"])
