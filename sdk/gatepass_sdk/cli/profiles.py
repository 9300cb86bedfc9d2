"""Profiles: several keys by name, in one file that only its owner can read."""

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

from gatepass_sdk import _settings
from gatepass_sdk.cli.errors import CommandError, ExitCode
from gatepass_sdk.errors import ConfigurationError

NAME: Final = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_.-]{0,63}", re.ASCII)
DEFAULT_NAME: Final = "default"


@dataclass(frozen=True)
class Profile:
    api_key: str = field(repr=False)
    base_url: str

    @property
    def mode(self) -> str:
        return "sandbox" if self.api_key.startswith("svc_test_") else "live"

    @property
    def fingerprint(self) -> str:
        """A hash of the key and the base URL. The key cannot be read from it."""
        return sha256(f"{self.base_url}\n{self.api_key}".encode()).hexdigest()[:16]


@dataclass(frozen=True)
class Identity(Profile):
    """The key and base URL of a command, and the profile that they are from, if any."""

    profile: str | None = None


class Profiles:
    """The profiles that `login` has stored."""

    def __init__(self) -> None:
        self._file = config_folder() / "profiles.json"
        stored = read_json(self._file)
        self.default: str | None = stored.get("default")
        try:
            self.named = {name: Profile(**profile) for name, profile in stored.get("profiles", {}).items()}
        except (AttributeError, TypeError):
            raise _unreadable(self._file) from None

    def find(self, name: str) -> Profile:
        if name not in self.named:
            known = ", ".join(sorted(self.named)) or "none"
            raise CommandError(
                f"There is no profile {name!r} (there are: {known}). Make it: gatepass-cli login -p {name}"
            )
        return self.named[name]

    def save(self, name: str, profile: Profile) -> None:
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
    """The key and the base URL: from options, else from variables, else from the profile."""
    profiles = Profiles()
    name = named or environment.get("GATEPASS_PROFILE") or profiles.default
    key = None if named else environment.get("GATEPASS_API_KEY") or None
    stored = None
    if name and (key is None or name in profiles.named):
        stored = profiles.find(name)
    if key is None and stored is None:
        raise CommandError("There is no API key. Run gatepass-cli login, or set GATEPASS_API_KEY.", ExitCode.KEY)
    url = base_url or (None if named else environment.get("GATEPASS_BASE_URL")) or (stored.base_url if stored else None)
    if url is None:
        raise CommandError(
            "There is no base URL: give --base-url or set GATEPASS_BASE_URL. It ends with /api/public/v1."
        )
    url = checked_base_url(url)
    if key is None and stored is not None:
        return Identity(stored.api_key, url, name)
    return Identity(key or "", url)


def checked_base_url(text: str) -> str:
    try:
        return _settings.checked_base_url(text)
    except ConfigurationError as error:
        raise CommandError(error.message) from None


def require_url(text: str, what: str) -> None:
    try:
        url = httpx2.URL(text)
    except httpx2.InvalidURL:
        url = httpx2.URL("")
    if url.scheme not in ("https", "http") or not url.host:
        raise CommandError(f"{what} is not a URL that begins with https:// (or http:// on your own machine).")


def checked_name(name: str) -> str:
    if NAME.fullmatch(name) is None:
        raise CommandError("A profile's name has letters, digits, dots, dashes and underscores, 64 at most.")
    return name


def names(incomplete: str) -> list[str]:
    """Profile names, for completion."""
    return [name for name in sorted(Profiles().named) if name.startswith(incomplete)]


def config_folder() -> Path:
    """The XDG configuration folder, or the platform's equivalent."""
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


def _unreadable(file: Path) -> CommandError:
    return CommandError(f"{file} cannot be read. Correct or delete it.")


def write_private(file: Path, value: Mapping[str, Any]) -> None:
    """Write the file atomically, readable by its owner only."""
    file.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    beside = file.with_name(f"{file.name}.{os.getpid()}")
    beside.unlink(missing_ok=True)
    with os.fdopen(os.open(beside, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600), "w", encoding="utf-8") as out:
        json.dump(value, out, indent=2)
    beside.replace(file)
