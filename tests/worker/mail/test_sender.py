"""The worker sends letters through a real SMTP server, whatever that answers."""

from email import message_from_bytes, policy
from email.message import EmailMessage
from pathlib import Path
from typing import Any

import pytest
import trustme
from pydantic import SecretStr

from gatepass.domain.mail import Mailer
from gatepass.worker.worker import Worker
from tests.factory import Tenant
from tests.mail_server import PASSWORD, USER, MailServer, mail_server
from tests.worker.conftest import working
from tests.worker.mail.letters import VALUES, addresses, answer_of, eventually, letters, settings_of, until, write


def value_of(worker: Worker, name: str, **labels: str) -> float:
    return worker.metrics.registry.get_sample_value(name, labels) or 0.0


async def taken(server: MailServer) -> list[dict[str, Any]] | None:
    return server.taken() or None


def message(taken: dict[str, Any]) -> EmailMessage:
    parsed = message_from_bytes(taken["content"].encode("latin-1"), policy=policy.default)
    assert isinstance(parsed, EmailMessage)
    return parsed


async def test_a_letter_arrives_as_text_and_as_html(tenant: Tenant, mailer: Mailer, server: MailServer) -> None:
    await write(tenant, mailer, "ada@example.com")
    async with working(tenant.db, **settings_of(server)) as worker:
        rows = await until(tenant, "sent")
        assert value_of(worker, "gatepass_mail_attempts_total", outcome="sent") == 1
    row = rows["ada@example.com"]
    assert row["answer"] == "250 OK, taken"
    assert (row["sealed_values"], row["doubtful"], row["tries"]) == (b"", 0, 0)
    (taken,) = server.taken()
    found = message(taken)
    assert found["Message-ID"] == taken["id"] == f"<{row['id']}@gatepass.test>"
    assert found["Subject"] == "Ihre Karte für Sommernacht & Été"
    assert (found["From"], found["To"]) == ("Gatepass <cards@gatepass.test>", "ada@example.com")
    assert found["Auto-Submitted"] == "auto-generated"
    text, html = (found.get_body((kind,)) for kind in ("plain", "html"))
    assert text is not None
    assert html is not None
    assert VALUES["link"] in text.get_content()
    assert f'href="{VALUES["link"]}"' in html.get_content()
    assert "Sommernacht &amp; Été" in html.get_content()
    assert not found.defects


async def test_each_gets_what_its_server_says(tenant: Tenant, mailer: Mailer, server: MailServer) -> None:
    await write(
        tenant, mailer, "greylist-a@example.com", "refuse-b@example.com", "spam-c@example.com", "drop-d@example.com",
        "lost-e@example.com", "f@example.com",
    )  # fmt: skip
    async with working(tenant.db, **settings_of(server)) as worker:
        rows = await until(tenant, "sent", "refused")
        counted = {
            outcome: value_of(worker, "gatepass_mail_attempts_total", outcome=outcome)
            for outcome in ("sent", "refused", "put_off", "dropped")
        }
        assert value_of(worker, "gatepass_mail_doubtful_total") == 2
    assert counted == {"sent": 4, "refused": 2, "put_off": 2, "dropped": 2}
    assert {address: row["state"] for address, row in rows.items() if row["state"] == "refused"} == {
        "refuse-b@example.com": "refused",
        "spam-c@example.com": "refused",
    }
    assert rows["refuse-b@example.com"]["answer"] == "550 5.1.1 No such user here"
    assert rows["greylist-a@example.com"]["tries"] == 2
    # The connection broke while the server had the content: only the server knows whether it took it.
    assert {address for address, row in rows.items() if row["doubtful"]} == {"drop-d@example.com", "lost-e@example.com"}
    taken = server.taken()
    assert sorted(addresses(taken)) == [
        "drop-d@example.com", "f@example.com", "greylist-a@example.com", "lost-e@example.com", "lost-e@example.com",
    ]  # fmt: skip
    twice = {one["id"] for one in taken if one["to"] == "lost-e@example.com"}
    assert twice == {f"<{rows['lost-e@example.com']['id']}@gatepass.test>"}


async def test_what_is_put_off_is_not_tried_at_once(tenant: Tenant, mailer: Mailer, server: MailServer) -> None:
    await write(tenant, mailer, "full-a@example.com")
    async with working(tenant.db, **settings_of(server)):
        await answer_of(tenant, "full-a@example.com")
    row = (await letters(tenant))["full-a@example.com"]
    assert row["state"] == "waiting"
    assert 55 < (row["next_at"] - row["written_at"]).total_seconds() < 90


async def test_who_waits_comes_before_a_mailing(tenant: Tenant, mailer: Mailer, server: MailServer) -> None:
    await write(tenant, mailer, *(f"guest{n}@example.com" for n in range(60)))
    await write(tenant, mailer, "code@example.com", urgent=True)
    async with working(tenant.db, **settings_of(server, connections=1)):
        await until(tenant, "sent")
    assert addresses(server.taken())[0] == "code@example.com"


async def test_one_domain_has_a_pace_and_the_others_go_ahead(
    tenant: Tenant, mailer: Mailer, server: MailServer
) -> None:
    await write(
        tenant, mailer, *(f"guest{n}@large.example" for n in range(15)), *(f"g@d{n}.example" for n in range(10))
    )
    async with working(tenant.db, **settings_of(server, rate=5)):
        rows = await until(tenant, "sent")
    order = addresses(server.taken())
    assert sorted(order[5:15]) == sorted(f"g@d{n}.example" for n in range(10))
    times = sorted(row["ended_at"] for address, row in rows.items() if address.endswith("@large.example"))
    assert (times[-1] - times[0]).total_seconds() > 1.5
    assert {row["tries"] for row in rows.values()} == {0}


async def test_a_letter_that_is_too_old_is_not_sent(tenant: Tenant, mailer: Mailer, server: MailServer) -> None:
    await write(tenant, mailer, "late@example.com")
    async with tenant.db.autocommit() as tx:
        await tx.run("UPDATE letter SET expires_at = now() WHERE organization_id = $1", tenant.id)
    async with working(tenant.db, **settings_of(server)):
        rows = await until(tenant, "expired")
    assert rows["late@example.com"]["sealed_values"] == b""
    assert server.taken() == []


async def test_a_stopped_worker_leaves_nothing_in_doubt(tenant: Tenant, mailer: Mailer, server: MailServer) -> None:
    await write(tenant, mailer, *(f"guest{n}@example.com" for n in range(400)))
    async with working(tenant.db, **settings_of(server)):
        await eventually(lambda: taken(server))
    rows = await letters(tenant)
    assert {row["state"] for row in rows.values()} == {"sent", "waiting"}
    async with working(tenant.db, **settings_of(server)):
        rows = await until(tenant, "sent")
    assert sorted(addresses(server.taken())) == sorted(rows)
    assert {row["doubtful"] for row in rows.values()} == {0}


async def test_a_server_that_is_away_is_waited_for(tenant: Tenant, mailer: Mailer, tmp_path: Path) -> None:
    with mail_server(tmp_path) as first:
        settings = settings_of(first)
    await write(tenant, mailer, "ada@example.com")
    async with working(tenant.db, **settings) as worker:
        assert "cannot be reached" in await answer_of(tenant, "ada@example.com")
        assert value_of(worker, "gatepass_mail_server_up") == 0
        assert (await letters(tenant))["ada@example.com"]["tries"] == 0
        with mail_server(tmp_path, port=first.port):
            await until(tenant, "sent")
            assert value_of(worker, "gatepass_mail_server_up") == 1


# ---- TLS and passwords ---------------------------------------------------------------------------------------------


@pytest.fixture
def authority() -> trustme.CA:
    return trustme.CA()


@pytest.fixture
def certificate(authority: trustme.CA, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A certificate for 127.0.0.1 that this process trusts."""
    path = tmp_path / "server.pem"
    authority.issue_cert("127.0.0.1").private_key_and_cert_chain_pem.write_to_path(path)
    authority.cert_pem.write_to_path(tmp_path / "root.pem")
    monkeypatch.setenv("SSL_CERT_FILE", str(tmp_path / "root.pem"))
    return path


async def test_it_signs_in_over_starttls(tenant: Tenant, mailer: Mailer, tmp_path: Path, certificate: Path) -> None:
    await write(tenant, mailer, "ada@example.com")
    with mail_server(tmp_path, certificate=certificate, auth=True) as server:
        url = f"smtp://{USER}:{PASSWORD.replace(' ', '%20')}@127.0.0.1:{server.port}"
        async with working(tenant.db, **settings_of(server) | {"smtp_url": SecretStr(url)}):
            await until(tenant, "sent")
        assert [one["tls"] for one in server.taken()] == [True]


@pytest.mark.parametrize(
    ("user", "trusted", "reason"),
    [
        (f"{USER}:wrong@", True, "does not take the user and the password"),
        ("", False, "its certificate is not trusted"),
    ],
)
async def test_why_it_cannot_be_used_is_told_without_the_password(
    tenant: Tenant, mailer: Mailer, tmp_path: Path, certificate: Path, monkeypatch: pytest.MonkeyPatch,
    user: str, trusted: bool, reason: str,
) -> None:  # fmt: skip
    if not trusted:
        monkeypatch.delenv("SSL_CERT_FILE")
    await write(tenant, mailer, "ada@example.com")
    with mail_server(tmp_path, certificate=certificate, auth=True) as server:
        url = SecretStr(f"smtp://{user}127.0.0.1:{server.port}")
        async with working(tenant.db, **settings_of(server) | {"smtp_url": url}):
            answer = await answer_of(tenant, "ada@example.com")
        assert reason in answer
        assert "wrong" not in answer
        assert server.taken() == []


async def test_starttls_cannot_be_taken_away(tenant: Tenant, mailer: Mailer, server: MailServer) -> None:
    await write(tenant, mailer, "ada@example.com")
    url = SecretStr(f"smtp://127.0.0.1:{server.port}")
    async with working(tenant.db, **settings_of(server) | {"smtp_url": url}):
        answer = await answer_of(tenant, "ada@example.com")
    assert "does not offer STARTTLS" in answer
    assert server.taken() == []
