"""The link for Google Wallet: its signature, and its content by a schema made of Google's own reference."""

import json
import re
from base64 import urlsafe_b64decode
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any
from uuid import uuid4
from zoneinfo import ZoneInfo

import pytest
from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric.padding import PKCS1v15
from jsonschema import Draft202012Validator

from gatepass.base.language import Language
from gatepass.base.settings import Settings
from gatepass.domain.wallets import GoogleIssuer, WalletSettingsError
from gatepass.domain.wallets.google_pass import SAVE_URL, save_link
from gatepass.domain.wallets.subject import PassEvent, Subject
from tests.wallets.authority import pass_certificate

NOW = datetime(2026, 11, 17, 12, tzinfo=UTC)
ISSUER = "3388000000012345678"
EMAIL = "cards@gatepass.iam.gserviceaccount.com"
CODE = "SVC1.U1ZDIDEyMzQgNTY3OCA5MDE3.1800000000." + "x" * 86
SCHEMA: dict[str, Any] = json.loads((Path(__file__).parent / "google_save_link.json").read_text())


@pytest.fixture
def account(tmp_path: Path) -> Path:
    path = tmp_path / "account.json"
    path.write_text(json.dumps({"client_email": EMAIL, "private_key": pass_certificate().key_pem().decode()}))
    return path


@pytest.fixture
def issuer(account: Path) -> GoogleIssuer:
    found = GoogleIssuer.of(Settings(google_wallet_issuer=ISSUER, google_wallet_key=account))
    assert found is not None
    return found


def subject(title: str = "Summer Opening", venue: str | None = "Hall 1") -> Subject:
    starts_at = (NOW + timedelta(days=4)).astimezone(ZoneInfo("Europe/Brussels"))
    event = PassEvent(
        uuid4(), title, venue, "Brussels", starts_at, starts_at + timedelta(hours=5), "General", False, False
    )
    return Subject("Harbour Nights", True, "SVC 1234 5678 9017", "active", False, (event,))


def linked(issuer: GoogleIssuer, told: Subject, code: str | None = CODE) -> str:
    return save_link(
        told, issuer, "a." + "s" * 43, code, language=Language.DUTCH, public_url="https://tickets.test", at=NOW
    )


def decoded(part: str) -> bytes:
    return urlsafe_b64decode(part + "=" * (-len(part) % 4))


def claims(link: str) -> dict[str, Any]:
    return json.loads(decoded(link.removeprefix(SAVE_URL).split(".")[1]))


@pytest.mark.parametrize("code", [CODE, None])
@pytest.mark.parametrize("venue", ["Hall 1", None])
def test_the_link_is_what_google_describes(issuer: GoogleIssuer, venue: str | None, code: str | None) -> None:
    found = claims(linked(issuer, subject(venue=venue), code))
    Draft202012Validator(SCHEMA).validate(found)
    (ticket,) = found["payload"]["eventTicketObjects"]
    (event,) = found["payload"]["eventTicketClasses"]
    assert ticket["classId"] == event["id"]
    assert ticket["id"].startswith(ISSUER + ".")
    assert ("barcode" in ticket) is (code is not None)
    assert ("venue" in event) is (venue is not None)
    assert event["dateTime"]["start"] == "2026-11-21T13:00:00+01:00"
    assert found["origins"] == ["https://tickets.test"]
    assert found["iss"] == EMAIL


@pytest.mark.parametrize(
    "broken",
    [{"aud": "apple"}, {"typ": "JWT"}, {"origins": []}, {"payload": {}}, {"iat": "now"}, {"more": 1}],
)
def test_the_schema_finds_what_is_wrong(issuer: GoogleIssuer, broken: dict[str, Any]) -> None:
    assert not Draft202012Validator(SCHEMA).is_valid(claims(linked(issuer, subject())) | broken)


def test_the_signature_is_that_of_the_service_account(issuer: GoogleIssuer) -> None:
    link = linked(issuer, subject())
    head, body, signature = link.removeprefix(SAVE_URL).split(".")
    assert json.loads(decoded(head)) == {"alg": "RS256", "typ": "JWT"}
    key = pass_certificate().key.public_key()
    key.verify(decoded(signature), f"{head}.{body}".encode(), PKCS1v15(), hashes.SHA256())
    with pytest.raises(InvalidSignature):
        key.verify(decoded(signature), f"{head}.{body[:-1]}A".encode(), PKCS1v15(), hashes.SHA256())


@pytest.mark.parametrize("title", ["Summer Opening", "W" * 200, "é" * 200, "夏" * 200, '"\\' * 100])
def test_the_link_is_short_enough_for_browsers(issuer: GoogleIssuer, title: str) -> None:
    """Google asks for at most 1,800 characters, which ordinary texts keep; browsers take four times as many."""
    link = linked(issuer, subject(title, title))
    assert re.fullmatch(r"https://pay\.google\.com/gp/v/save/[A-Za-z0-9._-]+", link)
    assert len(link) < (1800 if title == "Summer Opening" else 2600)


@pytest.mark.parametrize("text", ["", "[]", "{}", '{"client_email": "x", "private_key": "y"}', '{"private_key": 1}'])
def test_a_file_that_is_no_key_is_refused(tmp_path: Path, text: str) -> None:
    (tmp_path / "key").write_text(text)
    with pytest.raises(WalletSettingsError, match="not the key of a Google service account"):
        GoogleIssuer.of(Settings(google_wallet_issuer=ISSUER, google_wallet_key=tmp_path / "key"))


def test_both_settings_are_needed(account: Path) -> None:
    assert GoogleIssuer.of(Settings()) is None
    for settings in (Settings(google_wallet_issuer=ISSUER), Settings(google_wallet_key=account)):
        with pytest.raises(WalletSettingsError, match="both are needed"):
            GoogleIssuer.of(settings)
