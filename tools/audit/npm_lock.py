"""The lock files of npm, in tools/ and sdk-js/: each package has a checksum, an allowed licence and no other source."""

import json
import re
from collections.abc import Iterator
from typing import Any, Final

from tools.audit.licences import is_allowed

EXACT: Final = re.compile(r"[0-9]+\.[0-9]+\.[0-9]+(?:-[0-9A-Za-z.-]+)?")


def faults(manifest: str, lock: str) -> Iterator[str]:
    """A sentence for each package that cannot be trusted."""
    asked: dict[str, str] = json.loads(manifest).get("devDependencies", {})
    packages: dict[str, dict[str, Any]] = json.loads(lock)["packages"]
    for name, version in asked.items():
        if EXACT.fullmatch(version) is None:
            yield f"{name} is not pinned to one version"
        elif packages.get(f"node_modules/{name}", {}).get("version") != version:
            yield f"{name} {version} is in package.json and is not locked"
    for path, package in packages.items():
        if path:
            yield from _faults_of(path.rpartition("node_modules/")[2], package)


def _faults_of(name: str, package: dict[str, Any]) -> Iterator[str]:
    # The lock file names no source: the registry is the one that npm is told to use, and the checksum holds for any.
    if package.get("link") or "resolved" in package:
        yield f"{name} does not come from the registry"
    elif not package.get("integrity", "").startswith("sha512-"):
        yield f"{name} has no sha512 checksum"
    if not is_allowed(package.get("license", "unknown")):
        yield f"{name} has the licence {package.get('license')!r}, which is not allowed"
