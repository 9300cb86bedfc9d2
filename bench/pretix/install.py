"""pretix in a venv of its own, and its database: migrated once, kept as a dump, filled anew in every run."""

import json
import os
import random
import subprocess
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import psycopg

from tests.postgres import Cluster

VERSION = "2026.8.0"
PACKAGES = (f"pretix=={VERSION}", "gunicorn==27.0.0")
DATABASE = "pretix"
SEED = Path(__file__).with_name("seed.py")


@dataclass
class Known:
    """What a scanner knows; the tickets' secrets are in scattered order."""

    organizer: str
    checkin_list: int
    token: str
    secrets: list[str]


def install(kept: Path) -> Path:
    """Make the venv, or find it as it should be; its folder of programs."""
    venv = kept / "pretix-venv"
    _run(["uv", "venv", "-q", "--allow-existing", "--python", "3.11", str(venv)])
    _run(["uv", "pip", "install", "-q", "--compile-bytecode", "--python", str(venv / "bin" / "python"), *PACKAGES])
    return venv / "bin"


def migrate(cluster: Cluster, kept: Path, programs: Path, env: Mapping[str, str]) -> str:
    """Make the empty database. pretix takes minutes to migrate, so the outcome is kept for the next run."""
    url = cluster.create_database(DATABASE)
    with psycopg.connect(url) as connection:
        major = connection.info.server_version // 10_000
    dump = kept / f"pretix-{VERSION}-postgres-{major}.dump"
    if dump.exists():
        _run([str(cluster.binaries / "pg_restore"), "--no-owner", "-d", url, str(dump)])
        return url
    _run([str(programs / "python"), "-m", "pretix", "migrate"], env)
    half = dump.with_suffix(".half")
    _run([str(cluster.binaries / "pg_dump"), "-Fc", "-f", str(half), url])
    half.rename(dump)
    return url


def fill(url: str, programs: Path, env: Mapping[str, str], count: int) -> Known:
    with tempfile.TemporaryDirectory() as name:
        file = Path(name) / "known.json"
        # -P: else the folder of seed.py, which is called pretix, would be searched first.
        _run([str(programs / "python"), "-P", str(SEED), str(count), str(file)], env)
        known = Known(**json.loads(file.read_text()))
    with psycopg.connect(url, autocommit=True) as connection:
        connection.execute("VACUUM ANALYZE")
    random.shuffle(known.secrets)
    return known


def _run(command: list[str], env: Mapping[str, str] | None = None) -> None:
    ran = subprocess.run(command, check=False, capture_output=True, text=True, env={**os.environ, **(env or {})})
    if ran.returncode:
        raise AssertionError(f"{' '.join(command)}\n{ran.stdout[-2000:]}{ran.stderr[-2000:]}")
