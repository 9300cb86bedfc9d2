"""`gatepass reencrypt`: a new encryption key replaces the old one, and every secret still opens."""

import json
import re
from collections.abc import AsyncGenerator, Generator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import timedelta
from typing import Any
from urllib.parse import quote
from urllib.request import Request, urlopen
from uuid import UUID

import psycopg
import pytest

from gatepass.base.database import Database
from gatepass.base.encryption import Vault, VaultLocked, new_key
from gatepass.base.settings import BASE_PATH
from gatepass.domain import cards
from gatepass.domain.reencrypt import BATCH, EncryptionReport, examine
from tests import factory, sealed_secrets
from tests.cli.command import Command, line_with
from tests.postgres import free_port

OLD_KEY, NEW_KEY = new_key(), new_key()
BEFORE, DURING, AFTER = Vault([OLD_KEY]), Vault([NEW_KEY, OLD_KEY]), Vault([NEW_KEY])


@pytest.fixture
def before(on_database: Command) -> Command:
    return on_database.having(GATEPASS_ENCRYPTION_KEYS=OLD_KEY)


@pytest.fixture
def during(on_database: Command) -> Command:
    return on_database.having(GATEPASS_ENCRYPTION_KEYS=f"{NEW_KEY},{OLD_KEY}")


@pytest.fixture
def after(on_database: Command) -> Command:
    return on_database.having(GATEPASS_ENCRYPTION_KEYS=NEW_KEY)


@pytest.fixture
async def data(on_database: Command) -> AsyncGenerator[Database]:
    database = factory.database(on_database.env["GATEPASS_DATABASE_URL"], connections=1)
    yield database
    await database.close()


def counted(told: str) -> tuple[int, int]:
    """The number of secrets re-encrypted, and of those under the first key now."""
    reencrypted, current = re.findall(r"\d+", told)
    return int(reencrypted), int(current)


# ---- the steps of docs/operate/configure.md --------------------------------------------------------------------


@dataclass(frozen=True)
class Demo:
    """Two organizations with a signing key each, and for the first an endpoint whose secret is being rotated."""

    data: Database
    shown: dict[str, Any]
    endpoint_id: UUID
    secrets: list[str]

    @property
    def organization_id(self) -> UUID:
        return UUID(self.shown["organization_id"])

    async def signed(self, vault: Vault) -> str:
        async with self.data.autocommit() as tx:
            sign = await cards.signer(tx, self.organization_id, vault, at=factory.now())
        return sign(self.shown["cards"]["activated"]["card_number"], factory.now() + timedelta(days=1))

    async def opened(self, vault: Vault) -> list[str]:
        """The endpoint's secrets, as this vault opens them."""
        boxes = await sealed_secrets.boxes(self.data, self.endpoint_id)
        context = sealed_secrets.context(self.organization_id, self.endpoint_id)
        return [vault.open(box or b"", context).decode() for box in (boxes.secret, boxes.new_secret)]

    def is_taken(self, url: str, token: str) -> bool:
        """Whether a `gatepass serve` process accepts this token."""
        return called(url, self.shown["keys"]["cards_verify"], f"/card/verify?token={quote(token)}")["valid"]


@pytest.fixture
async def demo(before: Command, data: Database) -> Demo:
    """Everything is made with the old key alone."""
    told = before("demo", "--json", "--tickets", "1")
    assert told.returncode == 0, told.stderr
    shown = json.loads(told.stdout)
    key, endpoint = shown["keys"]["live"], {"url": "https://example.org/hook", "types": ["ticket.activated"]}
    with server(before) as url:
        created = called(url, key, "/webhooks", endpoint)["data"]
        rotated = called(url, key, f"/webhooks/{created['id']}/rotate-secret", {})["data"]
    return Demo(data, shown, UUID(created["id"]), [created["secret"], rotated["secret"]])


def called(url: str, key: str, path: str, body: dict[str, Any] | None = None) -> Any:
    """The answer of a `gatepass serve` process."""
    headers = {"Authorization": f"Bearer {key}", "Content-Type": "application/json"}
    data = None if body is None else json.dumps(body).encode()
    with urlopen(Request(f"{url}{BASE_PATH}{path}", data, headers)) as answer:
        return json.load(answer)


@contextmanager
def server(command: Command) -> Generator[str]:
    with command.started("serve", "--port", "0") as process:
        yield line_with(process, "listens on").split()[-1]
        process.terminate()
        assert process.wait(60) == 0


async def test_everything_works_through_the_four_steps(
    demo: Demo, before: Command, during: Command, after: Command
) -> None:
    with server(before) as url:
        signed_before = await demo.signed(BEFORE)
        assert demo.is_taken(url, signed_before)
    with server(during) as url:
        told = during("doctor")
        assert told.returncode == 0, told.stdout
        assert "4 of 4 secret(s) are sealed under an older key. Run `gatepass reencrypt`" in told.stdout
        told = during("reencrypt")
        assert (told.returncode, counted(told.stdout)) == (0, (4, 4)), told.stderr
        assert demo.is_taken(url, signed_before)
        assert demo.is_taken(url, await demo.signed(DURING))
        told = during("doctor")
        assert "4 secret(s) are sealed under the first encryption key, none under another." in told.stdout
    with server(after) as url:
        assert demo.is_taken(url, signed_before)
        assert demo.is_taken(url, await demo.signed(AFTER))
        assert await demo.opened(AFTER) == demo.secrets
        assert after("doctor").returncode == 0
    with pytest.raises(VaultLocked):
        await demo.signed(BEFORE)


async def test_without_the_third_step_doctor_and_reencrypt_say_what_is_lost(demo: Demo, after: Command) -> None:
    with pytest.raises(VaultLocked):
        await demo.signed(AFTER)
    told = after("doctor")
    assert told.returncode == 1
    assert "4 secret(s) cannot be opened by any of the encryption keys." in told.stdout
    told = after.cold("reencrypt")
    assert (told.returncode, counted(told.stdout)) == (1, (0, 0))
    first, *rows = told.stderr.splitlines()
    assert "None of the keys in GATEPASS_ENCRYPTION_KEYS opens these." in first
    assert [row.split()[0] for row in rows] == ["signing_key", "signing_key", "webhook_endpoint"]
    assert rows[-1].split()[1] == str(demo.endpoint_id)


async def test_the_key_that_was_missing_can_come_later(demo: Demo, after: Command, during: Command) -> None:
    assert after("reencrypt").returncode == 1
    told = during("reencrypt")
    assert (told.returncode, counted(told.stdout)) == (0, (4, 4))


# ---- at any time -----------------------------------------------------------------------------------------------


async def test_killed_half_way_it_has_lost_nothing_and_goes_on_where_it_was(data: Database, during: Command) -> None:
    organization_id = await sealed_secrets.organization(data)
    ids = sorted(await sealed_secrets.signing_keys(data, organization_id, BEFORE, 2 * BATCH))
    url = during.env["GATEPASS_DATABASE_URL"]
    with psycopg.connect(url) as holder:
        # The second page waits for this row.
        holder.execute("SELECT FROM signing_key WHERE id = %s FOR UPDATE", (ids[-1],))
        with during.started("reencrypt") as process:
            while await examine(data, DURING) != EncryptionReport(current=BATCH, older=BATCH):
                assert process.poll() is None
            process.kill()
            process.wait(60)
    assert await examine(data, DURING) == EncryptionReport(current=BATCH, older=BATCH)
    told = during("reencrypt")
    assert (told.returncode, counted(told.stdout)) == (0, (BATCH, 2 * BATCH))


async def test_many_that_cannot_be_opened_do_not_fill_the_screen(data: Database, after: Command) -> None:
    organization_id = await sealed_secrets.organization(data)
    await sealed_secrets.signing_keys(data, organization_id, BEFORE, 103)
    told = after("reencrypt")
    assert told.returncode == 1
    lines = told.stderr.splitlines()
    assert len(lines) == 102
    assert lines[-1] == "  and 3 more"


def test_without_secrets_there_is_nothing_to_do(after: Command) -> None:
    told = after("reencrypt")
    assert (told.returncode, counted(told.stdout)) == (0, (0, 0))


@pytest.mark.parametrize("key", ["", "short"])
def test_without_a_key_it_says_how_to_make_one(on_database: Command, key: str) -> None:
    told = on_database.having(GATEPASS_ENCRYPTION_KEYS=key)("reencrypt")
    assert told.returncode == 2
    assert "gatepass secret" in told.stderr
    assert told.stderr.count("\n") == 1


def test_on_an_unmigrated_database_it_says_what_to_run(on_empty_database: Command) -> None:
    told = on_empty_database("reencrypt")
    assert told.returncode == 1
    assert "Run `gatepass migrate`." in told.stderr


def test_a_database_that_is_down_is_one_line(after: Command) -> None:
    told = after.having(GATEPASS_DATABASE_URL=f"postgresql://127.0.0.1:{free_port()}/x")("reencrypt")
    assert told.returncode == 1
    assert told.stderr.count("\n") == 1
