"""A name of a module or a class with another meaning."""

from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class NameMutant:
    rule: str
    owner: Any
    name: str
    becomes: Any

    def apply(self) -> None:
        assert hasattr(self.owner, self.name)
        setattr(self.owner, self.name, self.becomes)

    @contextmanager
    def applied(self) -> Generator[None]:
        before = getattr(self.owner, self.name)
        self.apply()
        try:
            yield
        finally:
            setattr(self.owner, self.name, before)
