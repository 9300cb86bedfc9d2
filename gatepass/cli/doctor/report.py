"""A finding of `gatepass doctor`: one line, and the remedy for what is wrong."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Finding:
    good: bool
    line: str
    remedy: str = ""
    is_warning: bool = False
