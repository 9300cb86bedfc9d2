"""GATEPASS_SMTP_URL: what it may say, and that its password is shown nowhere."""

import pytest
from pydantic import SecretStr, ValidationError

from gatepass.base.settings import Settings
from gatepass.domain.mail import Encryption, SmtpServer, smtp_server


@pytest.mark.parametrize(
    ("url", "server"),
    [
        ("smtp://mail.example.com", SmtpServer("mail.example.com", 587, Encryption.STARTTLS)),
        ("smtps://mail.example.com", SmtpServer("mail.example.com", 465, Encryption.TLS)),
        ("smtp://u%40x:p%2Fw@mail:2525/", SmtpServer("mail", 2525, Encryption.STARTTLS, "u@x", "p/w")),
        ("smtp://127.0.0.1?starttls=never", SmtpServer("127.0.0.1", 25, Encryption.NEVER)),
        ("smtp://[::1]:1025?starttls=never", SmtpServer("::1", 1025, Encryption.NEVER)),
    ],
)
def test_a_server_is_read(url: str, server: SmtpServer) -> None:
    assert smtp_server(url) == server


@pytest.mark.parametrize(
    "url",
    [
        "http://mail", "smtp://", "smtp://mail/path", "smtp://mail?starttls=always", "smtp://mail?x=1", "smtp://mail#x",
        "smtps://mail?starttls=never", "smtp://user@mail", "smtp://mail:0x1", "smtp://mail:70000", "mail:25", "",
    ],
)  # fmt: skip
def test_anything_else_is_refused(url: str) -> None:
    with pytest.raises(ValueError, match="it should"):
        smtp_server(url)


def test_the_password_is_shown_nowhere() -> None:
    assert "secret" not in repr(smtp_server("smtp://user:secret@mail"))
    settings = Settings(smtp_url=SecretStr("smtp://user:secret@mail"), mail_from="cards@example.com")
    assert "secret" not in repr(settings)


@pytest.mark.parametrize("sender", ["cards@example.com", "Gatepass <cards@example.com>", "Théâtre <c+x@example.com>"])
def test_a_sender_is_an_address_with_or_without_a_name(sender: str) -> None:
    assert Settings(mail_from=sender).mail_from == sender


@pytest.mark.parametrize(
    "sender", ["cards", "a@b\r\nBcc: c@d", "X\n <a@b>", "<a@b", '"x" <a@b>', "a@b, c@d", "a b@c", "X <a@b> y"]
)
def test_another_sender_is_refused(sender: str) -> None:
    with pytest.raises(ValidationError):
        Settings(mail_from=sender)


def test_a_server_needs_a_sender() -> None:
    with pytest.raises(ValidationError, match="GATEPASS_MAIL_FROM"):
        Settings(smtp_url=SecretStr("smtp://mail"))
