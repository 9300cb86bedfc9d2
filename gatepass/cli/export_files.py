"""The files of an export: one of JSON lines for each kind of row, and a manifest that is written last."""

import hashlib
import json
from collections.abc import Iterator, Mapping
from datetime import datetime
from pathlib import Path
from typing import Final
from uuid import UUID

from gatepass import __version__
from gatepass.base.clock import rfc3339
from gatepass.base.database import Database
from gatepass.cli.errors import WRONG_USAGE, CommandError
from gatepass.cli.private_file import private
from gatepass.domain import twin
from gatepass.domain.lifecycle import export
from gatepass.domain.organizations import Organization

FORMAT: Final = "gatepass-organization"
# Raised when a field changes its meaning or goes; a new field or file does not raise it.
VERSION: Final = 1
SANDBOX: Final = "sandbox"


class _File:
    """A file that is written in pieces: it counts lines and bytes, and has their SHA-256."""

    def __init__(self, path: Path) -> None:
        self._out = open(path, "xb", opener=private)  # noqa: SIM115  closed by `close`
        self._digest = hashlib.sha256()
        self.rows = 0
        self.bytes = 0

    async def write(self, piece: bytes) -> None:
        self._out.write(piece)
        self._digest.update(piece)
        self.rows += piece.count(b"\n")
        self.bytes += len(piece)

    def close(self) -> dict[str, int | str]:
        self._out.close()
        return {"rows": self.rows, "bytes": self.bytes, "sha256": self._digest.hexdigest()}


def new_folder(path: Path) -> Path:
    """Make the folder, for this user alone."""
    try:
        path.mkdir(mode=0o700, parents=True)
    except FileExistsError:
        raise CommandError(f"{path} exists already. Name a new folder.", code=WRONG_USAGE) from None
    except OSError as error:
        raise CommandError(f"{path}: {error.strerror}.", code=WRONG_USAGE) from None
    return path


async def write(db: Database, organization: Organization, folder: Path, *, at: datetime) -> int:
    """Write every file, all of one moment; the number of rows. Without a manifest the export is not complete."""
    written: dict[str, dict[str, int | str]] = {}
    rows = 0
    async with db.transaction() as tx:
        await export.begin(tx)
        for tenant_id, name, path in _files(organization, folder):
            file = _File(folder / path)
            try:
                await export.stream(tx, tenant_id, name, file.write)
            finally:
                written[path] = file.close()
            rows += file.rows
    _write_manifest(
        folder / "manifest.json",
        {
            "format": FORMAT,
            "version": VERSION,
            "made_by": f"gatepass {__version__}",
            "organization_id": str(organization.id),
            "organization_name": organization.name,
            "exported_at": rfc3339(at),
            "files": written,
        },
    )
    return rows


def _files(organization: Organization, folder: Path) -> Iterator[tuple[UUID, str, str]]:
    """Whose rows, of which kind, and where to: those of the sandbox are in a folder of their own."""
    for name in export.FILES:
        yield organization.id, name, f"{name}.jsonl"
    new_folder(folder / SANDBOX)
    for name in export.OF_A_SANDBOX:
        yield twin.twin_id(organization.id), name, f"{SANDBOX}/{name}.jsonl"


def _write_manifest(path: Path, manifest: Mapping[str, object]) -> None:
    with open(path, "x", encoding="utf-8", opener=private) as out:
        json.dump(manifest, out, indent=2)
