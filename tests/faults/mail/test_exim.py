"""Once through a real mail server: exim4, over STARTTLS, into a Maildir."""

import asyncio
import re
from email.message import EmailMessage
from email.utils import parseaddr
from typing import Final

import pytest

from gatepass.base.ids import new_id
from gatepass.domain import mailings
from gatepass.domain.cards import link_url, links_of
from tests import factory
from tests.factory import Tenant
from tests.faults.mail.exim import PROGRAM, Exim, exim
from tests.faults.mail.guests import guests
from tests.processes import launch_worker
from tests.size import sized

pytestmark = pytest.mark.skipif(PROGRAM is None, reason="exim4 is not installed")

CARDS: Final = sized(short=300, full=2_000)
LINK: Final = re.compile(r"https://gatepass\.test/c/\S+?(?=[\s\"])")


async def test_every_card_arrives_once_with_its_own_link(own: Tenant) -> None:
    expected = await guests(own, CARDS)
    async with own.db.transaction() as tx:
        await mailings.begin(tx, own.id, new_id(), own.event_id, None, by="test", at=factory.now())
    environment = {
        **factory.environment(own.db.url),
        "GATEPASS_ENCRYPTION_KEYS": factory.KEY,
        "GATEPASS_PUBLIC_URL": "https://gatepass.test",
    }
    with exim() as server:
        worker = launch_worker(environment | server.environment())
        await arrived(server, CARDS)
        assert worker.stop() == 0
        letters = server.letters()
    links = {parseaddr(letter["To"])[1]: found(letter) for letter in letters}
    assert len(letters) == len(links) == CARDS, "one letter a card"
    assert links == await links_by_address(own)
    assert set(links) == set(expected)
    assert {letter["Envelope-to"] for letter in letters} == set(expected)
    assert len({letter["Message-ID"] for letter in letters}) == CARDS
    for letter in letters:
        assert letter["From"] == "Gatepass <cards@gatepass.test>"
        assert re.search(r"with esmtps\s+\(TLS1\.[23]\)", letter["Received"]), "over STARTTLS"
        assert letter.defects == []


def found(letter: EmailMessage) -> str:
    """The link of the letter, which both of its parts have."""
    parts = [letter.get_body((kind,)) for kind in ("plain", "html")]
    (link,) = {link for part in parts if part is not None for link in LINK.findall(part.get_content())}
    assert all(part is not None and link in part.get_content() for part in parts)
    return link


async def arrived(server: Exim, count: int) -> None:
    async with asyncio.timeout(120):
        while server.count() < count:  # noqa: ASYNC110  it is another process that we wait for
            await asyncio.sleep(0.1)


async def links_by_address(own: Tenant) -> dict[str, str]:
    async with own.db.transaction() as tx:
        holders = {row["card_id"]: row["email"] for row in await tx.rows(HOLDERS, own.id)}
        tokens = await links_of(tx, own.id, list(holders), factory.VAULT, "a", at=factory.now())
    return {holders[card_id]: link_url("https://gatepass.test", token) for card_id, token in tokens.items()}


HOLDERS: Final = "SELECT card_id, email FROM card_holder WHERE organization_id = $1"
