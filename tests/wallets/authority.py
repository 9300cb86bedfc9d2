"""An authority as Apple's is: a root, an intermediate for developers, and a certificate for one pass type."""

from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from functools import cache
from pathlib import Path
from typing import Any

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import rsa
from cryptography.x509.oid import ExtendedKeyUsageOID, NameOID

PASS_TYPE = "pass.test.gatepass.card"
TEAM = "ABCDE12345"
YEAR = timedelta(days=365)


@dataclass(frozen=True)
class Issued:
    certificate: x509.Certificate
    key: rsa.RSAPrivateKey

    def pem(self) -> bytes:
        return self.certificate.public_bytes(serialization.Encoding.PEM)

    def key_pem(self) -> bytes:
        return self.key.private_bytes(
            serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
        )


@cache
def root() -> Issued:
    return issue("Test Root CA", None, authority=True)


@cache
def intermediate() -> Issued:
    return issue("Worldwide Developer Relations G4", root(), authority=True)


@cache
def pass_certificate(lasts: timedelta = YEAR) -> Issued:
    return issue(
        "Pass Type ID", intermediate(), lasts=lasts, user_id=PASS_TYPE, unit=TEAM
    )  # fmt: skip


def issue(
    name: str,
    by: Issued | None,
    *,
    lasts: timedelta = YEAR,
    authority: bool = False,
    user_id: str | None = None,
    unit: str | None = None,
) -> Issued:
    key = rsa.generate_private_key(65537, 2048)
    parts = [(NameOID.COMMON_NAME, name), (NameOID.USER_ID, user_id), (NameOID.ORGANIZATIONAL_UNIT_NAME, unit)]
    subject = x509.Name([x509.NameAttribute(oid, value) for oid, value in parts if value is not None])
    begins = datetime.now(UTC) - timedelta(days=400)
    builder = (
        x509.CertificateBuilder()
        .subject_name(subject)
        .issuer_name(by.certificate.subject if by else subject)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(begins)
        .not_valid_after(datetime.now(UTC) + lasts)
        .add_extension(x509.BasicConstraints(ca=authority, path_length=None), critical=True)
    )
    if not authority:
        usage = [ExtendedKeyUsageOID.CLIENT_AUTH, ExtendedKeyUsageOID.EMAIL_PROTECTION]
        builder = builder.add_extension(x509.ExtendedKeyUsage(usage), critical=False)
    return Issued(builder.sign((by.key if by else key), hashes.SHA256()), key)


def apple_settings(folder: Path, lasts: timedelta = YEAR) -> dict[str, Any]:
    """The settings with which passes are offered; their files are written into this folder."""
    ours = pass_certificate(lasts)
    files = {
        "apple_pass_certificate": ours.pem(),
        "apple_pass_key": ours.key_pem(),
        # Apple gives its own certificate as DER.
        "apple_wwdr_certificate": intermediate().certificate.public_bytes(serialization.Encoding.DER),
    }
    for name, raw in files.items():
        (folder / name).write_bytes(raw)
    return {name: folder / name for name in files} | {"apple_pass_type": PASS_TYPE, "apple_team": TEAM}


def environment(settings: dict[str, Any]) -> dict[str, str]:
    """The same, for a process."""
    return {f"GATEPASS_{name.upper()}": str(value) for name, value in settings.items()}
