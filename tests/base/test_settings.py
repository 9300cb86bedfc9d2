"""The settings, and the file that explains them."""

from pathlib import Path

import pytest
from pydantic import SecretStr

from gatepass.base.settings import Settings

EXAMPLE = Path(__file__).parents[2] / ".env.example"


def written(value: object) -> str:
    if isinstance(value, SecretStr):
        return value.get_secret_value()
    return "" if value is None or value == [] else str(value)


def expected() -> list[str]:
    lines = ["# Every setting, its default, and a sentence. Copy to .env and change what you need."]
    for name, field in Settings.model_fields.items():
        default = written(field.get_default(call_default_factory=True))
        lines += ["", f"# {field.description}", f"GATEPASS_{name.upper()}={default}"]
    return lines


def test_the_example_lists_every_setting_with_its_default_and_its_sentence() -> None:
    assert EXAMPLE.read_text().splitlines() == expected()


def test_the_example_can_be_used_as_it_is(monkeypatch) -> None:
    for name in Settings.model_fields:
        monkeypatch.delenv(f"GATEPASS_{name.upper()}", raising=False)
    read = Settings(_env_file=EXAMPLE)  # pyright: ignore[reportCallIssue]
    assert read == Settings(_env_file=None)  # pyright: ignore[reportCallIssue]


def test_secrets_do_not_show_when_settings_are_printed() -> None:
    shown = repr(Settings(database_url=SecretStr("postgresql://u:hunter2@h/d"), encryption_keys=[SecretStr("hunter3")]))
    assert "hunter" not in shown


def test_lists_are_separated_by_commas(monkeypatch) -> None:
    monkeypatch.setenv("GATEPASS_TRUSTED_PROXIES", "10.0.0.0/8, ::1/128")
    monkeypatch.setenv("GATEPASS_ENCRYPTION_KEYS", "one,two")
    read = Settings()
    assert [str(network) for network in read.trusted_proxies] == ["10.0.0.0/8", "::1/128"]
    assert [key.get_secret_value() for key in read.encryption_keys] == ["one", "two"]


@pytest.mark.parametrize(("deadline", "within"), [(0.3, 0.5), (3, 0.5), (60, 10)])
def test_a_longer_deadline_is_also_a_longer_wait_for_a_connection(deadline: float, within: float) -> None:
    assert Settings(database_deadline=deadline).acquire_within == within
