"""Profiles: several keys, by name, in one file that only its owner can read."""

import json
import os
import re
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from hashlib import sha256
from pathlib import Path
from typing import Any, Final, cast

import httpx2
from typer import get_app_dir

from gatepass_sdk.cli.trouble import ExitCode, Trouble

NAME: Final = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_.-]{0,63}", re.ASCII)
FIRST: Final = "default"


@dataclass(frozen=True)
class Profile:
    api_key: str = field(repr=False)
    base_url: str

    @property
    def mode(self) -> str:
        return "sandbox" if self.api_key.startswith("svc_test_") else "live"

    @property
    def fingerprint(self) -> str:
        """The same for the same key at the same place; the key cannot be read from it."""
        return sha256(f"{self.base_url}\n{self.api_key}".encode()).hexdigest()[:16]


@dataclass(frozen=True)
class Identity(Profile):
    """Who a command is: the key and the place, and the profile that they are from, if any."""

    profile: str | None = None


class Profiles:
    """What `login` has kept."""

    def __init__(self) -> None:
        self._file = home() / "profiles.json"
        kept = read_json(self._file)
        self.default: str | None = kept.get("default")
        try:
            self.named = {name: Profile(**profile) for name, profile in kept.get("profiles", {}).items()}
        except (AttributeError, TypeError):
            raise _unreadable(self._file) from None

    def find(self, name: str) -> Profile:
        if name not in self.named:
            known = ", ".join(sorted(self.named)) or "none"
            raise Trouble(f"There is no profile {name!r} (there are: {known}). Make it: gatepass-cli login -p {name}")
        return self.named[name]

    def keep(self, name: str, profile: Profile) -> None:
        self.named[name] = profile
        self.default = self.default or name
        self._write()

    def use(self, name: str) -> None:
        self.find(name)
        self.default = name
        self._write()

    def remove(self, name: str) -> None:
        self.find(name)
        del self.named[name]
        if self.default == name:
            self.default = None
        self._write()

    def _write(self) -> None:
        profiles = {name: asdict(profile) for name, profile in self.named.items()}
        write_private(self._file, {"default": self.default, "profiles": profiles})


def identity(named: str | None, base_url: str | None, environment: Mapping[str, str] = os.environ) -> Identity:
    """Whose key, and where: options before variables, variables before the profile."""
    profiles = Profiles()
    name = named or environment.get("GATEPASS_PROFILE") or profiles.default
    key = None if named else environment.get("GATEPASS_API_KEY")
    kept = None
    if name and (key is None or name in profiles.named):
        kept = profiles.find(name)
    if key is None and kept is None:
        raise Trouble("There is no API key. Run gatepass-cli login, or set GATEPASS_API_KEY.", ExitCode.KEY)
    url = base_url or (None if named else environment.get("GATEPASS_BASE_URL")) or (kept.base_url if kept else None)
    if url is None:
        raise Trouble("There is no base URL: give --base-url or set GATEPASS_BASE_URL. It ends with /api/public/v1.")
    require_url(url, "The base URL")
    if key is None and kept is not None:
        return Identity(kept.api_key, url.rstrip("/"), name)
    return Identity(key or "", url.rstrip("/"))


def require_url(text: str, what: str) -> None:
    try:
        url = httpx2.URL(text)
    except httpx2.InvalidURL:
        url = httpx2.URL("")
    if url.scheme not in ("https", "http") or not url.host:
        raise Trouble(f"{what} is not a URL that begins with https:// (or http:// on your own machine).")


def checked_name(name: str) -> str:
    if NAME.fullmatch(name) is None:
        raise Trouble("A profile's name has letters, digits, dots, dashes and underscores, 64 at most.")
    return name


def names(incomplete: str) -> list[str]:
    """For completion."""
    return [name for name in sorted(Profiles().named) if name.startswith(incomplete)]


def home() -> Path:
    """XDG's place for settings, or what the platform has in its stead."""
    return Path(get_app_dir("gatepass"))


def read_json(file: Path) -> dict[str, Any]:
    try:
        value = json.loads(file.read_text("utf-8"))
    except FileNotFoundError:
        return {}
    except ValueError:
        raise _unreadable(file) from None
    if not isinstance(value, dict):
        raise _unreadable(file)
    return cast("dict[str, Any]", value)


def _unreadable(file: Path) -> Trouble:
    return Trouble(f"{file} cannot be read. Mend or delete it.")


def write_private(file: Path, value: Mapping[str, Any]) -> None:
    """Write it whole or not at all, for its owner's eyes."""
    file.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    beside = file.with_name(f"{file.name}.{os.getpid()}")
    beside.unlink(missing_ok=True)
    with os.fdopen(os.open(beside, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600), "w", encoding="utf-8") as out:
        json.dump(value, out, indent=2)
    beside.replace(file)
