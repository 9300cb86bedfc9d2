"""Attempts to stand between Gatepass and its databases: no impostor hears a password, and the operator reads why."""

import os
import ssl
import subprocess
from collections.abc import Callable, Generator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path

import httpx2
import psycopg
import pytest
import trustme
from sqlalchemy.exc import OperationalError

from gatepass.base.encryption import new_key
from gatepass.base.errors import Unavailable
from gatepass.cli import database, valkey
from gatepass.migrations import runner
from tests import factory, tls
from tests.attacks.supply_chain.impostor import Impostor, impostor
from tests.postgres import free_port
from tests.processes import PROGRAM, launch, serve
from tests.tls import LONG_AGO, Certificates

PASSWORD = "open-sesame-4711"
Context = Callable[[Certificates], ssl.SSLContext]


@pytest.fixture(scope="module")
def made() -> Generator[Certificates]:
    with tls.certificates() as found:
        yield found


def context(leaf: trustme.LeafCert) -> ssl.SSLContext:
    made = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    leaf.configure_cert(made)
    return made


def self_signed(folder: Path) -> ssl.SSLContext:
    asked = "req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -days 2 -subj /CN=localhost"
    files = ["-addext", "subjectAltName=DNS:localhost", "-keyout", f"{folder}/self.key", "-out", f"{folder}/self.crt"]
    subprocess.run(["openssl", *asked.split(), *files], check=True, capture_output=True)
    made = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    made.load_cert_chain(folder / "self.crt", folder / "self.key")
    return made


NEVER_YET = datetime(2090, 1, 1, tzinfo=UTC), datetime(2091, 1, 1, tzinfo=UTC)
CERTIFICATES: dict[str, tuple[Context, str]] = {
    "another authority": (lambda _: context(trustme.CA().issue_cert("localhost")), "unable to get local issuer"),
    "another host": (lambda made: context(made.authority.issue_cert("evil.test")), "Hostname mismatch"),
    "the host as common name only": (
        lambda made: context(made.authority.issue_cert("evil.test", common_name="localhost")),
        "Hostname mismatch",
    ),
    "a host below it": (lambda made: context(made.authority.issue_cert("*.localhost")), "Hostname mismatch"),
    "an address only": (lambda made: context(made.authority.issue_cert("127.0.0.1")), "Hostname mismatch"),
    "expired": (
        lambda made: context(made.authority.issue_cert("localhost", not_before=LONG_AGO[0], not_after=LONG_AGO[1])),
        "certificate has expired",
    ),
    "not valid yet": (
        lambda made: context(made.authority.issue_cert("localhost", not_before=NEVER_YET[0], not_after=NEVER_YET[1])),
        "certificate is not yet valid",
    ),
    "self-signed": (lambda made: self_signed(made.folder), "self-signed certificate"),
}
# Replies to the SSLRequest that would lead a client away from TLS.
REPLIES = {
    "no TLS here": b"N",
    "no TLS, and a request for the password": b"NR\0\0\0\x08\0\0\0\x03",
    "TLS, with plain text behind it": b"SR\0\0\0\x08\0\0\0\x03",
    "an error of an old server": b"EFATAL: unsupported frontend protocol\0",
    "a request for the password": b"R\0\0\0\x08\0\0\0\x03",
    "nothing": b"",
}


@contextmanager
def posing(made: Certificates, kind: str) -> Generator[Impostor]:
    if kind in CERTIFICATES:
        with impostor(b"S", CERTIFICATES[kind][0](made)) as started:
            yield started
    else:
        with impostor(REPLIES[kind]) as started:
            yield started


def url_of(made: Certificates, port: int) -> str:
    root = f"sslmode=verify-full&sslrootcert={made.root}"
    return f"postgresql://gatepass:{PASSWORD}@localhost:{port}/gatepass?{root}"


def require_untold(other: Impostor) -> None:
    """It was asked for TLS, and heard nothing else, or the beginning of a handshake that has no name in it."""
    assert other.asked > 0
    assert other.heard[:1] in (b"", b"\x16")
    assert b"gatepass" not in other.heard


@pytest.mark.parametrize("kind", [*CERTIFICATES, *REPLIES])
async def test_the_processes_tell_an_impostor_nothing(made: Certificates, kind: str) -> None:
    with posing(made, kind) as other:
        db = factory.database(url_of(made, other.port), deadline=1)
        with pytest.raises(Unavailable) as refused:
            async with db.autocommit():
                pass
        await db.close()
        require_untold(other)
    assert PASSWORD not in repr(refused.value.__cause__)


@pytest.mark.parametrize("kind", [kind for kind in [*CERTIFICATES, *REPLIES] if kind != "nothing"])
def test_migrations_tell_an_impostor_nothing(made: Certificates, kind: str) -> None:
    with posing(made, kind) as other:
        with pytest.raises(OperationalError) as refused:
            runner.upgrade(url_of(made, other.port))
        assert isinstance(refused.value.orig, psycopg.OperationalError)
        require_untold(other)
    assert PASSWORD not in str(refused.value)


@pytest.mark.parametrize("mode", ["prefer", "require"])
async def test_without_verification_an_impostor_is_believed(made: Certificates, mode: str) -> None:
    """So verify-full is what keeps the others out, and the impostors above are not merely broken."""
    with posing(made, "self-signed") as other:
        db = factory.database(
            f"postgresql://gatepass:{PASSWORD}@localhost:{other.port}/gatepass?sslmode={mode}", deadline=1
        )
        with pytest.raises(Unavailable):
            async with db.autocommit():
                pass
        assert PASSWORD.encode() in other.heard


def doctor(**environment: str) -> subprocess.CompletedProcess[str]:
    known = {**os.environ, "GATEPASS_ENCRYPTION_KEYS": new_key(), "GATEPASS_DATABASE_DEADLINE": "1", **environment}
    return subprocess.run([PROGRAM, "doctor"], env=known, check=False, capture_output=True, text=True)


@pytest.mark.parametrize(
    ("kind", "said"),
    [
        ("another authority", "its certificate is not trusted: unable to get local issuer certificate"),
        ("another host", "its certificate is not trusted: Hostname mismatch, certificate is not valid for 'localhost'"),
        ("expired", "its certificate is not trusted: certificate has expired"),
        ("self-signed", "its certificate is not trusted: self-signed certificate"),
        ("no TLS here", "it does not offer TLS, which sslmode demands"),
    ],
)
def test_the_operator_reads_why(made: Certificates, kind: str, said: str) -> None:
    with posing(made, kind) as other:
        done = doctor(GATEPASS_DATABASE_URL=url_of(made, other.port))
    line = f"✗ PostgreSQL at localhost:{other.port} is not used: {said}."
    assert (done.returncode, done.stderr) == (1, "")
    assert done.stdout.splitlines()[-1].startswith(line)
    assert PASSWORD not in done.stdout


def test_a_server_that_is_lied_to_answers_nobody_and_logs_why(made: Certificates) -> None:
    with posing(made, "another authority") as other:
        environment = {
            "GATEPASS_DATABASE_URL": url_of(made, other.port),
            "GATEPASS_ENCRYPTION_KEYS": new_key(),
            "GATEPASS_METRICS_PORT": "0",
        }
        server = launch(environment, free_port())
        try:
            server.wait_for_line("listens on")
            assert httpx2.get(f"{server.url}/readyz").status_code == 503
            server.wait_for_line("unable to get local issuer")
        finally:
            server.stop()
        assert other.heard == b""
    assert PASSWORD not in "".join(server.lines)


@pytest.mark.parametrize("kind", CERTIFICATES)
async def test_valkey_is_verified_too(made: Certificates, kind: str) -> None:
    make, said = CERTIFICATES[kind]
    with impostor(None, make(made)) as other:
        url = f"rediss://:{PASSWORD}@localhost:{other.port}/0?ssl_ca_certs={made.root}"
        assert said in str(await valkey.fault(url))
        assert other.heard == b""


async def test_valkey_hears_no_password_in_plain_text(made: Certificates) -> None:
    with impostor(None) as other:
        url = f"rediss://:{PASSWORD}@localhost:{other.port}/0?ssl_ca_certs={made.root}"
        assert "TLS failed" in str(await valkey.fault(url))
        assert PASSWORD.encode() not in other.heard


def test_an_impostor_of_valkey_stops_no_gate(made: Certificates, settings_env: dict[str, str]) -> None:
    with impostor(None, CERTIFICATES["another authority"][0](made)) as other:
        url = f"rediss://:{PASSWORD}@localhost:{other.port}/0?ssl_ca_certs={made.root}"
        server = serve({**settings_env, "GATEPASS_VALKEY_URL": url}, free_port())
        try:
            said = server.wait_for_line("unable to get local issuer certificate")
        finally:
            server.stop()
        assert other.heard == b""
    assert "rate limits are not shared" in said
    assert PASSWORD not in "".join(server.lines)


def test_doctor_warns_where_nothing_is_verified() -> None:
    done = doctor(
        GATEPASS_DATABASE_URL=f"postgresql://gatepass:{PASSWORD}@db.invalid/gatepass?sslmode=require",
        GATEPASS_VALKEY_URL=f"redis://:{PASSWORD}@valkey.invalid/0",
    )
    warnings = [line for line in done.stdout.splitlines() if line.startswith("!")]
    assert [line.partition(":")[0] for line in warnings if "verified" in line] == [
        "! TLS to Valkey is not verified",
        "! TLS to PostgreSQL is not verified",
    ]
    assert PASSWORD not in done.stdout + done.stderr


@pytest.mark.parametrize(
    ("url", "expected"),
    [
        ("postgresql://db.example.com/g", True),
        ("postgresql://db.example.com/g?sslmode=require", True),
        ("postgresql://db.example.com/g?sslmode=verify-ca", True),
        ("postgresql://10.0.0.5:5432/g", True),
        ("postgresql://localhost:1,db.example.com:2/g", True),
        ("postgresql://u:p@localhost.example.com/g", True),
        ("postgresql:///g?host=db.example.com", True),
        ("postgresql://db.example.com/g?sslmode=verify-full", False),
        ("postgresql://u:p@127.0.0.1:5432/g", False),
        ("postgresql://[::1]:5432/g", False),
        ("postgresql:///g?host=/run/postgresql", False),
    ],
)
def test_doctor_knows_what_is_not_verified(monkeypatch: pytest.MonkeyPatch, url: str, *, expected: bool) -> None:
    monkeypatch.delenv("PGSSLMODE", raising=False)
    assert database.is_unverified(url) is expected


@pytest.mark.parametrize(
    ("url", "expected"),
    [
        ("redis://valkey.example.com:6379/0", True),
        ("rediss://valkey.example.com:6379/0?ssl_cert_reqs=none", True),
        ("rediss://valkey.example.com:6379/0?ssl_cert_reqs=optional", True),
        ("rediss://valkey.example.com:6379/0?ssl_check_hostname=False", True),
        ("rediss://valkey.example.com:6379/0", False),
        ("redis://127.0.0.1:6379/0", False),
        ("unix:///run/valkey.sock", False),
    ],
)
def test_doctor_knows_it_of_valkey(url: str, *, expected: bool) -> None:
    assert valkey.is_unverified(url) is expected
