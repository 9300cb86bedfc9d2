"""The archive of a pass: OpenSSL accepts its signature, and refuses it once anything is altered."""

from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any
from uuid import uuid4
from zoneinfo import ZoneInfo

import pytest

from gatepass.base.language import Language
from gatepass.base.settings import Settings
from gatepass.domain.wallets.apple_certificate import AppleCertificate, WalletSettingsError
from gatepass.domain.wallets.apple_pass import TEXTS, Identity, apple_pass
from gatepass.domain.wallets.subject import PassEvent, Subject, period_of
from tests.wallets import authority, pkpass
from tools import wallet_images

NOW = datetime(2026, 11, 17, 12, tzinfo=UTC)
BRUSSELS = ZoneInfo("Europe/Brussels")
IDENTITY = Identity("a.serial", "token-of-the-pass", "https://tickets.test/c/a.wallet")


def event(
    title: str = "Summer Opening", *, in_days: int = 4, cancelled: bool = False, phones: bool = False
) -> PassEvent:
    starts_at = (NOW + timedelta(days=in_days)).astimezone(BRUSSELS)
    return PassEvent(
        uuid4(), title, "Hall 1", "Brussels", starts_at, starts_at + timedelta(hours=5), "General", cancelled, phones
    )


def subject(*events: PassEvent, status: str = "active", phone: bool = False, live: bool = True) -> Subject:
    return Subject("Harbour Nights", live, "SVC 1234 5678 9017", status, phone, events)


@pytest.fixture(scope="module")
def certificate(tmp_path_factory: pytest.TempPathFactory) -> AppleCertificate:
    found = AppleCertificate.of(settings(tmp_path_factory.mktemp("apple")))
    assert found is not None
    return found


def settings(folder: Path, lasts: timedelta = authority.YEAR, **changed: Any) -> Settings:
    return Settings(**{**authority.apple_settings(folder, lasts), **changed})


def made(certificate: AppleCertificate, told: Subject, code: str | None = "SVC1.code") -> dict[str, Any]:
    return pkpass.content(apple_pass(told, IDENTITY, code, certificate, at=NOW))


def test_openssl_accepts_the_signature_and_refuses_it_for_another_manifest(certificate: AppleCertificate) -> None:
    raw = apple_pass(subject(event()), IDENTITY, "SVC1.code", certificate, at=NOW)
    files = pkpass.opened(raw)
    manifest, signature = files["manifest.json"], files["signature"]
    assert pkpass.is_signed(manifest, signature)
    assert not pkpass.is_signed(manifest.replace(b'"', b"'", 1), signature)
    assert not pkpass.is_signed(manifest + b"\n", signature)
    assert not pkpass.is_signed(manifest.replace(b"{", b"{\r\n", 1), signature)


def test_the_files_stand_at_the_root_with_every_language(certificate: AppleCertificate) -> None:
    files = pkpass.opened(apple_pass(subject(event()), IDENTITY, "SVC1.code", certificate, at=NOW))
    images = {f"{name}{scale}.png" for name in ("icon", "logo") for scale in ("", "@2x", "@3x")}
    strings = {f"{language}.lproj/pass.strings" for language in Language}
    assert set(files) == {"pass.json", "manifest.json", "signature"} | images | strings
    assert all(files[name].startswith(b"\x89PNG") for name in images)


@pytest.mark.parametrize("language", list(Language))
def test_every_text_is_there_in_every_language(certificate: AppleCertificate, language: Language) -> None:
    files = pkpass.opened(apple_pass(subject(event()), IDENTITY, None, certificate, at=NOW))
    lines = files[f"{language}.lproj/pass.strings"].decode().splitlines()
    texts = {line.split('" = "')[0][1:]: line.split('" = "')[1][:-2] for line in lines}
    assert set(texts) == TEXTS
    if language is not Language.ENGLISH:
        same = {text for text, translated in texts.items() if text == translated}
        assert same <= {"Ticket"}, "a text is not translated"
    assert all(text.count("%@") == translated.count("%@") for text, translated in texts.items())


def test_a_pass_tells_the_next_event_in_the_time_of_its_venue(certificate: AppleCertificate) -> None:
    first, later = event(), event("Winter Ball", in_days=40)
    told = made(certificate, subject(first, later, event("Picnic", cancelled=True)))
    assert told["eventTicket"]["primaryFields"][0]["value"] == "Summer Opening"
    assert told["relevantDate"] == "2026-11-21T13:00:00+01:00"
    assert [dates["startDate"] for dates in told["relevantDates"]] == [
        "2026-11-21T13:00:00+01:00", "2026-12-27T13:00:00+01:00",
    ]  # fmt: skip
    back = {field["value"]: field.get("label") for field in told["eventTicket"]["backFields"]}
    assert back == {"2026-12-27T13:00:00+01:00": "Winter Ball", "Picnic": "Cancelled"}
    assert told["barcodes"] == [
        {"format": "PKBarcodeFormatQR", "message": "SVC1.code", "messageEncoding": "iso-8859-1"}
    ]
    assert told["expirationDate"] == "2026-12-28T18:00:00+01:00"
    assert (told["serialNumber"], told["authenticationToken"]) == ("a.serial", "token-of-the-pass")
    assert (told["backgroundColor"], told["labelColor"]) == ("rgb(20, 96, 92)", "rgb(255, 255, 255)")
    assert (told["passTypeIdentifier"], told["teamIdentifier"]) == (authority.PASS_TYPE, authority.TEAM)


def test_a_pass_of_an_ended_card_is_void_and_tells_nothing(certificate: AppleCertificate) -> None:
    ended = subject(event(), live=False)
    assert not ended.shows_code()
    told = made(certificate, ended, None)
    assert told["voided"] is True
    text = str(told)
    assert not any(word in text for word in ("barcode", "SVC 1234", "Summer Opening", "Hall 1"))


@pytest.mark.parametrize(
    ("told", "shows"),
    [
        (subject(event()), True),
        (subject(event(), phone=True), False),
        (subject(event(), status="suspended"), False),
        (subject(event(phones=True)), False),
        (subject(event(phones=True), event(in_days=9)), True),
        (subject(event(cancelled=True)), False),
        (subject(), False),
    ],
)
def test_a_code_is_shown_only_where_a_copy_of_it_would_be_let_in(told: Subject, *, shows: bool) -> None:
    assert told.shows_code() is shows


def test_a_code_for_a_far_event_is_made_anew_each_period() -> None:
    far = subject(event(in_days=300))
    end = far.code_ends_at(NOW)
    assert timedelta(days=60) < end - NOW <= timedelta(days=90)
    assert far.code_ends_at(period_of(NOW)) == end
    assert far.code_ends_at(period_of(NOW) + timedelta(days=30)) == end + timedelta(days=30)
    assert subject(event(in_days=4)).code_ends_at(NOW) == NOW + timedelta(days=5, hours=5)


def test_without_settings_there_is_no_certificate() -> None:
    assert AppleCertificate.of(Settings()) is None


@pytest.mark.parametrize(
    ("changed", "sentence"),
    [
        ({"apple_team": None}, "missing: GATEPASS_APPLE_TEAM"),
        ({"apple_pass_type": "pass.other"}, "another GATEPASS_APPLE_PASS_TYPE"),
        ({"apple_team": "ZZZZZ99999"}, "another GATEPASS_APPLE_TEAM"),
        ({"apple_pass_key": Path("nowhere")}, "cannot be read"),
        ({"apple_pass_key": Path(__file__)}, "no private key"),
        ({"apple_pass_certificate": Path(__file__)}, "no certificate"),
    ],
)
def test_a_wrong_setting_is_told_at_the_start(tmp_path: Path, changed: dict[str, Any], sentence: str) -> None:
    with pytest.raises(WalletSettingsError, match=sentence):
        AppleCertificate.of(settings(tmp_path, **changed))


def test_a_key_and_an_intermediate_of_others_are_refused(tmp_path: Path) -> None:
    stranger = authority.issue("Another", None, authority=True)
    (tmp_path / "key").write_bytes(stranger.key_pem())
    (tmp_path / "certificate").write_bytes(stranger.pem())
    with pytest.raises(WalletSettingsError, match="is not the key of"):
        AppleCertificate.of(settings(tmp_path, apple_pass_key=tmp_path / "key"))
    with pytest.raises(WalletSettingsError, match="did not sign"):
        AppleCertificate.of(settings(tmp_path, apple_wwdr_certificate=tmp_path / "certificate"))


def test_an_ending_certificate_is_known_thirty_days_before(tmp_path: Path) -> None:
    ending = AppleCertificate.of(settings(tmp_path, timedelta(days=40)))
    assert ending is not None
    end = ending.ends_at
    assert not ending.is_ending(end - timedelta(days=30, seconds=1))
    assert ending.is_ending(end - timedelta(days=30))
    assert ending.is_valid(end - timedelta(seconds=1))
    assert not ending.is_valid(end)


def test_the_images_are_those_that_the_tool_draws() -> None:
    drawn = wallet_images.drawn()
    assert {path.name: path.read_bytes() for path in wallet_images.FOLDER.iterdir()} == drawn
