"""The lock files of Python: each requirement is one version with its hashes, from an index, as pyproject.toml asks."""

import re
import tomllib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from packaging.requirements import InvalidRequirement, Requirement
from packaging.utils import canonicalize_name

HASH: Final = re.compile(r"--hash=(\S+)")
SHA256: Final = re.compile(r"sha256:[0-9a-f]{64}")
# Each lock file, and what of pyproject.toml it locks.
LOCKED: Final = {
    "requirements.txt": ("project",),
    "requirements-dev.txt": ("project", "extra", "dev"),
    "deploy/requirements-build.txt": ("build",),
    "deploy/ha/requirements.txt": ("patroni",),
}


@dataclass(frozen=True)
class Pin:
    name: str
    version: str
    marker: str
    hashes: tuple[str, ...]


def faults(root: Path) -> Iterator[str]:
    """A sentence for each requirement of the lock files that cannot be trusted."""
    versions: dict[str, set[frozenset[str]]] = {}
    for file, parts in LOCKED.items():
        text = (root / file).read_text()
        locked = pins(text)
        yield from (f"{file}: {fault}" for fault in faults_of(text))
        for name in {pin.name for pin in locked}:
            versions.setdefault(name, set()).add(frozenset(pin.version for pin in locked if pin.name == name))
        yield from (f"{file}: {fault}" for fault in _unlike(wanted(root, parts), text))
    for name, found in versions.items():
        if len(found) > 1:
            yield f"{name} has another version in each lock file: {', '.join(sorted(frozenset[str]().union(*found)))}"


def faults_of(text: str) -> Iterator[str]:
    """What is wrong with the lines of one lock file."""
    seen: set[tuple[str, str]] = set()
    for line in _lines(text):
        pin = _pin(line)
        if isinstance(pin, str):
            yield pin
            continue
        if (pin.name, pin.marker) in seen:
            yield f"{pin.name} is there twice"
        seen.add((pin.name, pin.marker))
        if not pin.hashes:
            yield f"{pin.name} has no hash"
        for one in pin.hashes:
            if SHA256.fullmatch(one) is None:
                yield f"{pin.name} has a hash that is not sha256"


def pins(text: str) -> list[Pin]:
    return [pin for pin in map(_pin, _lines(text)) if isinstance(pin, Pin)]


def _lines(text: str) -> Iterator[str]:
    """Lines that a backslash continues are one; comments are left out."""
    for line in text.replace("\\\n", " ").splitlines():
        said = re.sub(r"(^|\s)#.*$", "", line).strip()
        if said:
            yield said


def _pin(line: str) -> Pin | str:
    """The requirement in a line, or what is wrong with it."""
    said = HASH.sub("", line).strip()
    if said.startswith("-"):
        return f"{said.split()[0]} is an option, and a lock file has none"
    try:
        wish = Requirement(said)
    except InvalidRequirement:
        return f"{said} is not a package of an index"
    if wish.url is not None:
        return f"{wish.name} comes from a URL, not from an index"
    (first, *others) = [*wish.specifier] or [None]
    if first is None or others or first.operator != "==" or "*" in first.version:
        return f"{wish.name} is not pinned to one version"
    return Pin(canonicalize_name(wish.name), first.version, str(wish.marker or ""), tuple(HASH.findall(line)))


def wanted(root: Path, parts: tuple[str, ...]) -> list[Requirement]:
    """What pyproject.toml asks for, in these parts of it."""
    document = tomllib.loads((root / "pyproject.toml").read_text())
    project, groups = document["project"], document["dependency-groups"]
    texts: list[str] = []
    for part in parts:
        match part:
            case "project":
                texts += project["dependencies"]
            case "extra":
                texts += project["optional-dependencies"]["dev"]
            case _:
                texts += _group(groups, part)
    return [Requirement(text) for text in texts]


def _group(groups: dict[str, list[Any]], name: str) -> Iterator[str]:
    for one in groups[name]:
        if isinstance(one, str):
            yield one
        else:
            yield from _group(groups, one["include-group"])


def _unlike(wishes: list[Requirement], text: str) -> Iterator[str]:
    pinned = {pin.name: pin.version for pin in pins(text)}
    for wish in wishes:
        if wish.url is not None:
            yield f"{wish.name} comes from a URL in pyproject.toml"
            continue
        version = pinned.get(canonicalize_name(wish.name))
        if version is None:
            yield f"{wish.name} is in pyproject.toml and is not locked"
        elif not wish.specifier.contains(version, prereleases=True):
            yield f"{wish.name} is locked at {version}, and pyproject.toml asks for {wish.specifier}"
