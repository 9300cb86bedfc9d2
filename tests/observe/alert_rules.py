"""The rules of deploy/observe, and a copy of them in which time passes faster."""

import re
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

OBSERVE = Path(__file__).parents[2] / "deploy" / "observe"
FILES = ("alerts.yml", "cluster.yml")
# Every duration is divided by this: a range, an evaluation, the time for which a condition has to hold. Thresholds are
# not: a scan of 500 ms is slow in the copy too.
SPEED = 60
DURATION = re.compile(r"(?<=\[)(\d+)([smhd])(?=\])|(?<=\bfor: )(\d+)([smhd])\b")
KEYWORDS = {"and", "or", "on", "by", "bool", "group_left", "group_right"}
SECONDS = {"s": 1, "m": 60, "h": 3600, "d": 86400}


@dataclass(frozen=True)
class Alert:
    name: str
    expression: str
    severity: str
    summary: str
    runbook_url: str


def groups(file: str) -> list[dict[str, Any]]:
    return yaml.safe_load((OBSERVE / file).read_text())["groups"]


def rules(file: str) -> list[dict[str, Any]]:
    return [rule for group in groups(file) for rule in group["rules"]]


def alerts(*files: str) -> list[Alert]:
    return [
        Alert(
            rule["alert"],
            rule["expr"],
            rule["labels"]["severity"],
            rule["annotations"]["summary"],
            rule["annotations"]["runbook_url"],
        )
        for file in files or FILES
        for rule in rules(file)
        if "alert" in rule
    ]


def faster(text: str) -> str:
    """The rules with all durations divided by SPEED."""

    def divided(found: re.Match[str]) -> str:
        number, unit = found[1] or found[3], found[2] or found[4]
        return f"{int(number) * SECONDS[unit] * 1000 // SPEED}ms"

    return DURATION.sub(divided, text)


def metrics_in(expression: str) -> set[str]:
    """The names of the metrics that a PromQL expression reads: what is no function, keyword, label or number."""
    bare = re.sub(r'"[^"]*"', "", expression)
    bare = re.sub(r"#.*|\{[^}]*\}|\[[^]]*\]|\b(by|on|group_left|group_right)\s*\([^)]*\)", " ", bare)
    return set(re.findall(r"(?<![\w.:])[a-zA-Z_][\w:]*\b(?!\s*\()", bare)) - KEYWORDS
