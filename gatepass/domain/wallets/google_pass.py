"""A ticket for Google Wallet: a link that carries all of it, signed by the operator's service account.

Google keeps what the link says. It is not told of changes, so the pass is for the next event alone and ends with it.
No phone has opened one of these yet; docs/operate/wallets.md says what was checked instead.
"""

import json
from base64 import urlsafe_b64encode
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any, Final, Self

from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric.padding import PKCS1v15
from cryptography.hazmat.primitives.asymmetric.rsa import RSAPrivateKey

from gatepass.base.language import Language
from gatepass.base.security_headers import origin_of
from gatepass.base.settings import Settings
from gatepass.domain.wallets.apple_certificate import WalletSettingsError
from gatepass.domain.wallets.subject import PassEvent, Subject

SAVE_URL: Final = "https://pay.google.com/gp/v/save/"
# Browsers and Google take links of 1,800 characters; these leave room for the code and the signature.
LONGEST_TEXT: Final = 60
# The cell's letter and 132 bits of a serial number, which do not meet either.
SHORT_SERIAL: Final = 24


@dataclass(frozen=True, slots=True)
class GoogleIssuer:
    issuer: str
    email: str
    key: RSAPrivateKey

    @classmethod
    def of(cls, settings: Settings) -> Self | None:
        """The issuer that the settings name; None if they name none."""
        issuer, path = settings.google_wallet_issuer, settings.google_wallet_key
        if issuer is None and path is None:
            return None
        if issuer is None or path is None:
            raise WalletSettingsError(
                "For Google Wallet both are needed: GATEPASS_GOOGLE_WALLET_ISSUER and GATEPASS_GOOGLE_WALLET_KEY."
            )
        return cls(issuer, *_service_account(path))


def save_link(
    subject: Subject,
    issuer: GoogleIssuer,
    serial: str,
    code: str | None,
    *,
    language: Language,
    public_url: str,
    at: datetime,
) -> str:
    """The link with which a phone saves the ticket for the card's next event."""
    event = subject.coming[0]
    payload = {
        "eventTicketClasses": [_class(subject, event, issuer.issuer, language)],
        "eventTicketObjects": [_object(subject, event, issuer.issuer, serial, code, at)],
    }
    claims = {
        "iss": issuer.email,
        "aud": "google",
        "typ": "savetowallet",
        "iat": int(at.timestamp()),
        "origins": [origin_of(public_url)],
        "payload": payload,
    }
    signed = f"{_part({'alg': 'RS256', 'typ': 'JWT'})}.{_part(claims)}"
    signature = issuer.key.sign(signed.encode(), PKCS1v15(), hashes.SHA256())
    return f"{SAVE_URL}{signed}.{_encoded(signature)}"


def _class(subject: Subject, event: PassEvent, issuer: str, language: Language) -> dict[str, Any]:
    """What is the same for everybody at the event."""
    found: dict[str, Any] = {
        "id": _class_id(issuer, event),
        "issuerName": _short(subject.organizer),
        "eventName": _text(event.title, language),
        "reviewStatus": "UNDER_REVIEW",
        "dateTime": {"start": event.starts_at.isoformat(), "end": event.ends_at.isoformat()},
    }
    if event.venue and event.city:
        # Google wants both or neither.
        found["venue"] = {"name": _text(event.venue, language), "address": _text(event.city, language)}
    return found


def _object(
    subject: Subject, event: PassEvent, issuer: str, serial: str, code: str | None, at: datetime
) -> dict[str, Any]:
    found: dict[str, Any] = {
        "id": f"{_class_id(issuer, event)}.{serial[:SHORT_SERIAL]}",
        "classId": _class_id(issuer, event),
        "state": "ACTIVE",
    }
    if subject.shows_number():
        found["ticketNumber"] = subject.number
    if code is not None:
        found["barcode"] = {"type": "QR_CODE", "value": code}
        ends_at = subject.code_ends_at(at).isoformat()
        found["validTimeInterval"] = {"end": {"date": ends_at}}
    return found


def _class_id(issuer: str, event: PassEvent) -> str:
    return f"{issuer}.{_encoded(event.id.bytes)}"


def _text(value: str, language: Language) -> dict[str, Any]:
    return {"defaultValue": {"language": str(language), "value": _short(value)}}


def _short(value: str) -> str:
    return value if len(value) <= LONGEST_TEXT else value[: LONGEST_TEXT - 1] + "…"


def _part(claims: dict[str, Any]) -> str:
    return _encoded(json.dumps(claims, ensure_ascii=False, separators=(",", ":")).encode())


def _encoded(raw: bytes) -> str:
    return urlsafe_b64encode(raw).rstrip(b"=").decode()


def _service_account(path: Path) -> tuple[str, RSAPrivateKey]:
    try:
        found = json.loads(path.read_bytes())
        key = serialization.load_pem_private_key(found["private_key"].encode(), password=None)
        email = found["client_email"]
    except OSError:
        raise WalletSettingsError(f"{path} cannot be read by this user.") from None
    except (ValueError, TypeError, KeyError, AttributeError):
        raise WalletSettingsError(f"{path} is not the key of a Google service account.") from None
    if not isinstance(key, RSAPrivateKey) or not isinstance(email, str):
        raise WalletSettingsError(f"{path} is not the key of a Google service account.")
    return email, key
