"""Letters in the database of a test: written by the mailer, read back, and brought forward in time."""

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from typing import Any, Final, TypeVar

from pydantic import SecretStr

from gatepass.base.language import Language
from gatepass.domain.mail import LetterKind, Mailer, NewLetter
from tests import factory
from tests.factory import Tenant
from tests.mail_server import MailServer

T = TypeVar("T")
VALUES: Final = {
    "event": "Sommernacht & Été", "name": "Zoë", "organizer": "Harbour Nights", "when": "Saturday 21 November, 19:30",
    "where": "Hall 1, Brussels", "number": "SVC 1234 5678 9012", "link": "https://gatepass.test/c/a.secret",
}  # fmt: skip


def settings_of(server: MailServer, *, connections: int = 2, rate: int = 10_000) -> dict[str, Any]:
    return {
        "smtp_url": SecretStr(server.url),
        "mail_from": "Gatepass <cards@gatepass.test>",
        "mail_connections": connections,
        "mail_domain_rate": rate,
    }


async def write(tenant: Tenant, mailer: Mailer, *addresses: str, urgent: bool | None = None) -> None:
    letters = [NewLetter(address, VALUES, Language.GERMAN) for address in addresses]
    async with tenant.db.transaction() as tx:
        await mailer.write_all(tx, LetterKind.CARD, letters, organization_id=tenant.id, at=factory.now(), urgent=urgent)


async def letters(tenant: Tenant) -> dict[str, Any]:
    """The rows, by address."""
    async with tenant.db.autocommit() as tx:
        return {row["address"]: row for row in await tx.rows(LETTERS, tenant.id)}


async def until(tenant: Tenant, *states: str, within: float = 60.0) -> dict[str, Any]:
    """Wait until every letter is in one of these states. What was put off is due at once."""
    async with asyncio.timeout(within):
        while True:
            rows = await letters(tenant)
            if all(row["state"] in states for row in rows.values()):
                return rows
            await bring_forward(tenant)
            await asyncio.sleep(0.05)


async def bring_forward(tenant: Tenant) -> None:
    """Let the time pass until the next try of what the server has put off."""
    async with tenant.db.autocommit() as tx:
        await tx.run(BRING_FORWARD, tenant.id)


async def eventually(check: Callable[[], Awaitable[T | None]], within: float = 60.0) -> T:
    """The first answer of this function that is not None."""
    async with asyncio.timeout(within):
        while (found := await check()) is None:  # noqa: ASYNC110  it is another process that we wait for
            await asyncio.sleep(0.05)
        return found


async def answer_of(tenant: Tenant, address: str) -> str:
    """What the mail server said about the letter to this address, once it has."""

    async def said() -> str | None:
        return (await letters(tenant))[address]["answer"]

    return await eventually(said)


def addresses(taken: Sequence[dict[str, Any]]) -> list[str]:
    return [one["to"] for one in taken]


LETTERS: Final = "SELECT * FROM letter WHERE organization_id = $1 ORDER BY id"
BRING_FORWARD: Final = """
    UPDATE letter SET next_at = now() WHERE organization_id = $1 AND state = 'waiting' AND tries > 0
"""
