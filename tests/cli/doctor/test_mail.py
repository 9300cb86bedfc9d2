"""What `gatepass doctor` says of the mail server."""

from pathlib import Path

import pytest
import trustme
from pydantic import SecretStr

from gatepass.base.settings import Settings
from gatepass.cli.doctor.mail import of_mail
from tests.mail_server import PASSWORD, USER, mail_server
from tests.postgres import free_port


async def told(url: str) -> list[tuple[bool, str]]:
    settings = Settings(smtp_url=SecretStr(url), mail_from="Gatepass <cards@gatepass.test>")
    return [(one.good, one.line) async for one in of_mail(settings)]


@pytest.fixture
def certificate(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A certificate for 127.0.0.1 that this process trusts."""
    authority = trustme.CA()
    authority.cert_pem.write_to_path(tmp_path / "authority.pem")
    authority.issue_cert("127.0.0.1").private_key_and_cert_chain_pem.write_to_path(tmp_path / "server.pem")
    monkeypatch.setenv("SSL_CERT_FILE", str(tmp_path / "authority.pem"))
    return tmp_path / "server.pem"


async def test_nothing_is_said_without_mail() -> None:
    assert [one async for one in of_mail(Settings())] == []


async def test_a_server_that_takes_letters(tmp_path: Path, certificate: Path) -> None:
    with mail_server(tmp_path, certificate=certificate, auth=True) as server:
        place = f"127.0.0.1:{server.port}"
        signed_in = f"smtp://{USER}:{PASSWORD.replace(' ', '%20')}@{place}"
        assert await told(signed_in) == [(True, f"The mail server {place} takes letters.")]
        assert server.taken() == [], "nothing is sent"


@pytest.mark.parametrize(
    ("user", "trusted", "why"),
    [
        (f"{USER}:wrong-password@", True, "it does not take the user and the password: 535"),
        ("", True, "it does not take letters from cards@gatepass.test: 530"),
        (f"{USER}:wrong-password@", False, "its certificate is not trusted"),
    ],
)
async def test_what_is_wrong_is_said(
    tmp_path: Path, certificate: Path, monkeypatch: pytest.MonkeyPatch, user: str, trusted: bool, why: str
) -> None:
    if not trusted:
        monkeypatch.delenv("SSL_CERT_FILE")
    with mail_server(tmp_path, certificate=certificate, auth=True) as server:
        ((good, line),) = await told(f"smtp://{user}127.0.0.1:{server.port}")
    assert not good
    assert f"127.0.0.1:{server.port} cannot be used: {why}" in line
    assert "wrong-password" not in line


async def test_a_server_without_starttls(tmp_path: Path) -> None:
    with mail_server(tmp_path) as server:
        ((good, line),) = await told(f"smtp://127.0.0.1:{server.port}")
        assert not good
        assert "does not offer STARTTLS" in line
        assert [good for good, _ in await told(server.url)] == [True], "on this machine it may do without"


async def test_a_server_that_is_not_there_and_one_elsewhere_without_encryption() -> None:
    ((good, line),) = await told(f"smtp://127.0.0.1:{free_port()}")
    assert not good
    assert "cannot be reached" in line
    found = await told(f"smtp://nowhere.invalid:{free_port()}?starttls=never")
    assert [good for good, _ in found] == [False, True]
    assert "not encrypted" in found[1][1]
