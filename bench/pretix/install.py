"""pretix in its own venv, and its database: migrated once, kept as a dump, filled in every run."""

import json
import os
import random
import subprocess
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import psycopg

from tests.postgres import Cluster

VERSION = "2026.8.0"
PACKAGES = (f"pretix=={VERSION}", "gunicorn==27.0.0")
DATABASE = "pretix"
SEED = Path(__file__).with_name("seed.py")


@dataclass
class Scanner:
    """The configuration of a scanner. The tickets' secrets are in scattered order."""

    organizer: str
    checkin_list: int
    token: str
    secrets: list[str]


def install(results: Path) -> Path:
    """Make the venv, or update the one of an earlier run. Returns its folder of programs."""
    venv = results / "pretix-venv"
    _run(["uv", "venv", "-q", "--allow-existing", "--python", "3.11", str(venv)])
    _run(["uv", "pip", "install", "-q", "--compile-bytecode", "--python", str(venv / "bin" / "python"), *PACKAGES])
    return venv / "bin"


def migrate(cluster: Cluster, results: Path, programs: Path, env: Mapping[str, str]) -> str:
    """Make the empty database. pretix takes minutes to migrate, so a dump is kept for the next run."""
    url = cluster.create_database(DATABASE)
    with psycopg.connect(url) as connection:
        major = connection.info.server_version // 10_000
    dump = results / f"pretix-{VERSION}-postgres-{major}.dump"
    if dump.exists():
        _run([str(cluster.binaries / "pg_restore"), "--no-owner", "-d", url, str(dump)])
        return url
    _run([str(programs / "python"), "-m", "pretix", "migrate"], env)
    partial = dump.with_suffix(".partial")
    _run([str(cluster.binaries / "pg_dump"), "-Fc", "-f", str(partial), url])
    partial.rename(dump)
    return url


def fill(url: str, programs: Path, env: Mapping[str, str], count: int) -> Scanner:
    scanner = Scanner(**seed(SEED, programs, env, str(count)))
    with psycopg.connect(url, autocommit=True) as connection:
        connection.execute("VACUUM ANALYZE")
    random.shuffle(scanner.secrets)
    return scanner


def seed(script: Path, programs: Path, env: Mapping[str, str], *arguments: str) -> dict[str, Any]:
    """Run a script in pretix's venv; it may import seed.py. Its last argument is a file, for the JSON that it tells."""
    with tempfile.TemporaryDirectory() as name:
        file = Path(name) / "told.json"
        # -P: the script's own folder, which may have modules of the same names as pretix, is not searched.
        command = [str(programs / "python"), "-P", str(script), *arguments, str(file)]
        _run(command, {**env, "PYTHONPATH": str(SEED.parent)})
        return json.loads(file.read_text())


def _run(command: list[str], env: Mapping[str, str] | None = None) -> None:
    ran = subprocess.run(command, check=False, capture_output=True, text=True, env={**os.environ, **(env or {})})
    if ran.returncode:
        raise AssertionError(f"{' '.join(command)}\n{ran.stdout[-2000:]}{ran.stderr[-2000:]}")
