"""The bill of materials of the service, in CycloneDX: what the lock file installs, and the vendored files.

It has no random number and no time of its own: the same commit gives the same bytes.
"""

import json
from base64 import b64decode
from collections.abc import Iterable
from datetime import UTC, datetime
from hashlib import sha256
from importlib.metadata import PackageNotFoundError, requires
from pathlib import Path
from typing import Any, Final
from uuid import NAMESPACE_URL, uuid5

from cyclonedx.schema import SchemaVersion
from cyclonedx.validation.json import JsonStrictValidator
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from gatepass import __version__
from tools import vendored
from tools.audit import licences, lock_files
from tools.vendored import Package

LICENCE: Final = "Apache-2.0"
Part = dict[str, Any]


def written(root: Path, at: int) -> str:
    """The document. It is checked against the schema of CycloneDX first."""
    text = json.dumps(_document(root, at), indent=2) + "\n"
    fault = JsonStrictValidator(SchemaVersion.V1_6).validate_str(text)
    if fault is not None:
        raise ValueError(f"the bill of materials is not CycloneDX 1.6: {fault}")
    return text


def _document(root: Path, at: int) -> Part:
    pins = lock_files.pins((root / "requirements.txt").read_text())
    service = {**_python("gatepass", __version__, LICENCE), "type": "application"}
    libraries = {pin.name: _python(pin.name, pin.version, licences.licence_of(pin.name)) for pin in pins}
    files = [_vendored(package) for package in vendored.packages(root)]
    direct = [libraries[canonicalize_name(wish.name)] for wish in lock_files.wanted(root, ("project",))]
    components = [*libraries.values(), *files]
    content = sha256(json.dumps(components).encode()).hexdigest()
    return {
        "$schema": "http://cyclonedx.org/schema/bom-1.6.schema.json",
        "bomFormat": "CycloneDX",
        "specVersion": "1.6",
        "serialNumber": uuid5(NAMESPACE_URL, f"{service['purl']}#{content}").urn,
        "version": 1,
        "metadata": {"timestamp": datetime.fromtimestamp(at, UTC).isoformat(), "component": service},
        "components": components,
        "dependencies": [
            _depends(service, [*direct, *files]),
            *(_depends(one, _needs(name, libraries)) for name, one in libraries.items()),
        ],
    }


def _python(name: str, version: str, licence: str | None) -> Part:
    """A package of PyPI. One for another system is not installed here, and its licence is not known."""
    purl = f"pkg:pypi/{name}@{version}"
    named = {"licenses": [_licence(licence)]} if licence else {}
    return {"type": "library", "bom-ref": purl, "name": name, "version": version, **named, "purl": purl}


def _vendored(package: Package) -> Part:
    """A package of npm; the checksum is that of its archive there."""
    checksum = b64decode(package.integrity.removeprefix("sha512-")).hex()
    return {
        "type": "library",
        "bom-ref": package.purl,
        "name": package.package,
        "version": package.version,
        "hashes": [{"alg": "SHA-512", "content": checksum}],
        "licenses": [_licence(package.licence)],
        "purl": package.purl,
    }


def _licence(expression: str) -> Part:
    """Some metadata says only `BSD`, which is a name and not an identifier of SPDX."""
    return {"license": {"name": expression}} if expression == "BSD" else {"expression": expression}


def _depends(on: Part, needs: Iterable[Part]) -> Part:
    return {"ref": on["bom-ref"], "dependsOn": sorted({need["bom-ref"] for need in needs})}


def _needs(name: str, known: dict[str, Part]) -> list[Part]:
    """What an installed package needs on this system."""
    try:
        wishes = [Requirement(text) for text in requires(name) or []]
    except PackageNotFoundError:
        return []
    asked = [wish for wish in wishes if wish.marker is None or wish.marker.evaluate({"extra": ""})]
    return [known[found] for found in (canonicalize_name(wish.name) for wish in asked) if found in known]
