"""TLS to PostgreSQL and Valkey: one URL each works for every command, with verification and client certificates."""

import os
import re
import subprocess
import time
from collections.abc import Generator

import httpx2
import psycopg
import pytest

from gatepass.base.encryption import new_key
from tests import tls
from tests.postgres import Cluster, free_port
from tests.processes import PROGRAM, gatepass, launch_worker, serve
from tests.tls import Certificates


@pytest.fixture(scope="module")
def made() -> Generator[Certificates]:
    with tls.certificates() as found:
        yield found


@pytest.fixture(scope="module")
def cluster(made: Certificates) -> Generator[Cluster]:
    with tls.postgres(made) as started:
        yield started


@pytest.fixture(scope="module")
def environment(made: Certificates, cluster: Cluster) -> Generator[dict[str, str]]:
    with tls.valkey(made) as port:
        # The first host does not answer: each driver goes on to the second.
        hosts = f"localhost:{free_port()},localhost:{cluster.port}"
        yield {
            "GATEPASS_DATABASE_URL": f"postgresql://postgres@{hosts}/postgres?{made.options}",
            "GATEPASS_VALKEY_URL": f"rediss://localhost:{port}/0?{made.valkey_options}",
            "GATEPASS_ENCRYPTION_KEYS": new_key(),
            "GATEPASS_METRICS_PORT": "0",
        }


@pytest.fixture(scope="module")
def migrated(environment: dict[str, str]) -> dict[str, str]:
    assert "The database at localhost:" in gatepass(environment, "migrate")
    return environment


def test_doctor_finds_nothing_wrong(migrated: dict[str, str]) -> None:
    lines = gatepass(migrated, "doctor").splitlines()
    assert [line for line in lines if line.startswith("✗")] == []
    assert any(line.startswith("✓ Valkey answers at localhost:") for line in lines)


def test_every_connection_is_encrypted(migrated: dict[str, str], cluster: Cluster) -> None:
    worker = launch_worker(migrated)
    server = serve(migrated, free_port())
    try:
        assert httpx2.get(f"{server.url}/readyz").json() == {"status": "ok"}
        server.wait_for_line("rate limits are shared")
        with psycopg.connect(f"postgresql://postgres@/postgres?host={cluster.folder}&port={cluster.port}") as link:
            link.autocommit = True
            while len(found := link.execute(CONNECTIONS).fetchall()) < 2:
                assert worker.is_alive()
                time.sleep(0.02)
        assert {row[1] for row in found} == {True}
    finally:
        assert server.stop() == 0
        assert worker.stop() == 0


CONNECTIONS = """
    SELECT DISTINCT application_name, ssl
      FROM pg_stat_activity JOIN pg_stat_ssl USING (pid)
     WHERE application_name ~ 'gatepass'
"""


@pytest.mark.parametrize(
    ("url", "said"),
    [
        ("postgresql://db.example.com/g?sslmode=verify_full", "sslmode is one of: disable, allow, prefer"),
        ("postgresql://db.example.com/g?sslmode=verify-full&sslrootcert=/nowhere.crt", "sslrootcert does not name a"),
        ("postgresql://db.example.com/g?sslrootcert=system", "sslrootcert does not name a file"),
        ("postgresql://db.example.com/g?channel_binding=require", "the option channel_binding is not known here"),
    ],
)
def test_a_wrong_option_is_one_line(url: str, said: str) -> None:
    done = subprocess.run(
        [PROGRAM, "migrate"],
        env={**os.environ, "GATEPASS_DATABASE_URL": url},
        check=False,
        capture_output=True,
        text=True,
    )
    assert (done.returncode, done.stdout) == (2, "")
    assert re.fullmatch(rf"GATEPASS_DATABASE_URL: {said}.*\n", done.stderr)
