"""The certificate with which passes for Apple Wallet are signed, and the signature itself.

Apple gives an operator a certificate for one pass type. It ends after a year, and phones then take no new pass.
"""

from dataclasses import dataclass
from datetime import datetime, timedelta
from pathlib import Path
from typing import Final

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric.rsa import RSAPrivateKey
from cryptography.hazmat.primitives.serialization.pkcs7 import PKCS7Options, PKCS7SignatureBuilder
from cryptography.x509.oid import NameOID

from gatepass.base.settings import Settings

# A new certificate takes a person with access to the developer account: that may take weeks.
WARN_BEFORE: Final = timedelta(days=30)
# Without Binary the manifest would be signed with other line ends than it has.
OPTIONS: Final = [PKCS7Options.DetachedSignature, PKCS7Options.Binary]
NAMES: Final = ("apple_pass_certificate", "apple_pass_key", "apple_wwdr_certificate", "apple_pass_type", "apple_team")


class WalletSettingsError(Exception):
    """The settings of a wallet are incomplete, or a file that they name is not what it should be."""


@dataclass(frozen=True, slots=True)
class AppleCertificate:
    pass_type: str
    team: str
    certificate: x509.Certificate
    key: RSAPrivateKey
    intermediate: x509.Certificate

    @classmethod
    def of(cls, settings: Settings) -> "AppleCertificate | None":
        """The certificate that the settings name; None if they name none."""
        missing = [f"GATEPASS_{name.upper()}" for name in NAMES if getattr(settings, name) is None]
        if len(missing) == len(NAMES):
            return None
        if missing:
            raise WalletSettingsError(f"For Apple Wallet these settings are missing: {', '.join(missing)}.")
        return _checked(cls(
            str(settings.apple_pass_type), str(settings.apple_team),
            _certificate(settings.apple_pass_certificate), _key(settings.apple_pass_key),
            _certificate(settings.apple_wwdr_certificate),
        ))  # fmt: skip

    @property
    def ends_at(self) -> datetime:
        """When phones begin to refuse what is signed: the intermediate may end first."""
        return min(self.certificate.not_valid_after_utc, self.intermediate.not_valid_after_utc)

    def is_valid(self, at: datetime) -> bool:
        return self.certificate.not_valid_before_utc <= at < self.ends_at

    def is_ending(self, at: datetime) -> bool:
        return at >= self.ends_at - WARN_BEFORE

    def sign(self, manifest: bytes) -> bytes:
        """A detached signature in CMS, DER, with its time and both certificates."""
        return (
            PKCS7SignatureBuilder()
            .set_data(manifest)
            .add_signer(self.certificate, self.key, hashes.SHA256())
            .add_certificate(self.intermediate)
            .sign(serialization.Encoding.DER, OPTIONS)
        )


def _checked(found: AppleCertificate) -> AppleCertificate:
    """Every fault that a phone would answer with silence is told at the start."""
    if found.certificate.public_key() != found.key.public_key():
        raise WalletSettingsError("GATEPASS_APPLE_PASS_KEY is not the key of GATEPASS_APPLE_PASS_CERTIFICATE.")
    if found.certificate.issuer != found.intermediate.subject:
        raise WalletSettingsError("GATEPASS_APPLE_WWDR_CERTIFICATE did not sign GATEPASS_APPLE_PASS_CERTIFICATE.")
    for oid, value, name in (
        (NameOID.USER_ID, found.pass_type, "GATEPASS_APPLE_PASS_TYPE"),
        (NameOID.ORGANIZATIONAL_UNIT_NAME, found.team, "GATEPASS_APPLE_TEAM"),
    ):
        if value not in [attribute.value for attribute in found.certificate.subject.get_attributes_for_oid(oid)]:
            raise WalletSettingsError(f"GATEPASS_APPLE_PASS_CERTIFICATE is for another {name}.")
    return found


def _certificate(path: Path | None) -> x509.Certificate:
    """PEM, or DER as Apple's own site gives it."""
    raw = _read(path)
    try:
        return x509.load_pem_x509_certificate(raw) if b"-----BEGIN" in raw else x509.load_der_x509_certificate(raw)
    except ValueError:
        raise WalletSettingsError(f"{path} is no certificate.") from None


def _key(path: Path | None) -> RSAPrivateKey:
    try:
        key = serialization.load_pem_private_key(_read(path), password=None)
    except (ValueError, TypeError):
        raise WalletSettingsError(f"{path} is no private key in PEM without a password.") from None
    if not isinstance(key, RSAPrivateKey):
        raise WalletSettingsError(f"{path} is no RSA key, and Apple's certificates are for those.")
    return key


def _read(path: Path | None) -> bytes:
    try:
        return path.read_bytes() if path else b""
    except OSError:
        raise WalletSettingsError(f"{path} cannot be read by this user.") from None
