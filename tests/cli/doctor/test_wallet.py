"""What `gatepass doctor` says of wallets."""

from datetime import datetime, timedelta
from pathlib import Path

from gatepass.base.settings import Settings
from gatepass.cli.doctor.wallet import of_wallets
from tests import factory
from tests.wallets.authority import apple_settings


def told(settings: Settings, at: datetime) -> list[tuple[bool, bool, str]]:
    return [(one.good, one.is_warning, one.line.split(" ends")[0]) for one in of_wallets(settings, at)]


def test_an_ending_certificate_is_a_warning_and_an_ended_one_a_fault(tmp_path: Path) -> None:
    settings = Settings(**apple_settings(tmp_path, timedelta(days=100)))
    now = factory.now()
    assert told(settings, now) == [(True, False, "Cards are offered for Apple Wallet; the certificate")]
    assert told(settings, now + timedelta(days=69)) == [
        (True, False, "Cards are offered for Apple Wallet; the certificate")
    ]
    assert told(settings, now + timedelta(days=71)) == [(True, True, "The certificate for Apple Wallet")]
    ((good, warning, line),) = told(settings, now + timedelta(days=101))
    assert (good, warning) == (False, False)
    assert line.startswith("The certificate for Apple Wallet ended on 20")


def test_nothing_is_said_without_wallets_and_a_wrong_setting_is_a_fault() -> None:
    assert told(Settings(), factory.now()) == []
    assert told(Settings(apple_team="ABCDE12345"), factory.now())[0][0] is False
