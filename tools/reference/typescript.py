"""Declarations of TypeScript with their comments, read from sources that the formatter has laid out."""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Final

SOURCE: Final = Path(__file__).parents[2] / "sdk-js" / "src"
DECLARED: Final = re.compile(
    r"^export (?:abstract )?(?:declare )?(?P<kind>class|interface|type|(?:async )?function\*?) (?P<name>\w+)"
)
METHOD: Final = re.compile(r"^  (?P<words>(?:static |async |\*|get )*)(?P<name>\w+)(?:<[^(]*>)?\(")
FIELD: Final = re.compile(r"^  (?:readonly |declare )*(?P<name>\w+)(?P<optional>\??): (?P<type>.+);$")
SPACES: Final = re.compile(r"\s+")


@dataclass(frozen=True)
class Member:
    """A field with its type, or a method with its parameters and its result."""

    name: str
    text: str
    doc: str
    is_method: bool = False
    words: str = ""


@dataclass
class Declaration:
    kind: str
    name: str
    doc: str
    head: str
    members: list[Member] = field(default_factory=list[Member])

    @property
    def extends(self) -> str:
        found = re.search(r"\bextends (.+?) (?:implements .+ )?\{", self.head)
        return found[1] if found else ""


@cache
def declarations(name: str) -> dict[str, Declaration]:
    """What this file of sdk-js/src exports, by name."""
    lines = (SOURCE / name).read_text(encoding="utf-8").splitlines()
    return {found.name: found for found in _declarations(lines)}


def resources() -> dict[str, Declaration]:
    """What the files of the resources export."""
    found: dict[str, Declaration] = {}
    for path in sorted((SOURCE / "resources").glob("*.ts")):
        found |= declarations(f"resources/{path.name}")
    return found


def _declarations(lines: list[str]) -> Iterator[Declaration]:
    for at, line in enumerate(lines):
        declared = DECLARED.match(line)
        if declared is None:
            continue
        kind, name = declared["kind"].removeprefix("async "), declared["name"]
        body = _body(lines, at)
        made = Declaration(kind, name, _comment(lines, at), _head(body, kind))
        if kind in ("class", "interface"):
            made.members += _members(body)
        yield made


def _body(lines: list[str], at: int) -> list[str]:
    """From a declaration to the line that ends it."""
    if lines[at].endswith((";", "{}")):
        return [lines[at]]
    if lines[at].endswith(("{", "(")):
        return lines[at : lines.index("}", at) + 1]
    # A type of several lines: what follows it is not indented.
    followed = [*lines[1:], ""]
    end = next(n for n in range(at, len(lines)) if lines[n].endswith(";") and not followed[n].startswith(" "))
    return lines[at : end + 1]


def _head(body: list[str], kind: str) -> str:
    """The declaration without a body."""
    if kind in ("class", "interface"):
        return body[0]
    if kind.startswith("function"):
        end = next(n for n, line in enumerate(body) if line.endswith("{"))
        return _joined(body[: end + 1]).removesuffix(" {")
    return _joined(body)


def _members(body: list[str]) -> Iterator[Member]:
    for at, line in enumerate(body):
        method, plain = METHOD.match(line), FIELD.match(line)
        if method is not None and method["name"] != "constructor":
            end = next(n for n in range(at, len(body)) if body[n].endswith(("{", ";")))
            text = _joined(body[at : end + 1]).removesuffix("{").removesuffix(";").strip()
            # What a method takes apart at once is one argument to its caller.
            text = re.sub(r"\{ [^{}]* \}: ", "options: ", re.sub(r"^(static |async |\*|get )+", "", text))
            yield Member(method["name"], text, _comment(body, at), True, method["words"].strip())
        elif plain is not None:
            is_optional = "?" if plain["optional"] else ""
            yield Member(plain["name"] + is_optional, plain["type"], _comment(body, at))


def _joined(lines: list[str]) -> str:
    text = SPACES.sub(" ", " ".join(line.strip() for line in lines))
    return text.replace("( ", "(").replace(", )", ")").replace(",)", ")").replace(" | undefined", "").strip()


def _comment(lines: list[str], at: int) -> str:
    """The comment that ends on the line before."""
    if at == 0 or not lines[at - 1].rstrip().endswith("*/"):
        return ""
    begin = at - 1
    while "/**" not in lines[begin]:
        begin -= 1
    said = (line.strip().removeprefix("/**").removesuffix("*/").strip() for line in lines[begin:at])
    texts = [re.sub(r"^\* ?", "", line) for line in said]
    return "\n".join(texts).strip()
