"""The link of a card in the studio: shown, changed, noted, and never made by looking at the card."""

import re

from gatepass.domain.cards import CardStatus
from tests.card_page.links import path_of
from tests.studio.browser_session import BrowserSession

LINK = re.compile(r"https://studio\.test(/c/a\.[\w-]{43})")


async def link_on(user: BrowserSession, path: str) -> str:
    page = await user.send(path, status=200)
    (link,) = set(LINK.findall(page.text))
    return link


async def test_the_link_is_shown_and_changed(user: BrowserSession) -> None:
    card = await user.tenant.card()
    shown = await link_on(user, f"cards/{card.id}/link")
    assert shown == await path_of(user.tenant, card)
    changed = await link_on(user, f"cards/{card.id}/link/change")
    assert changed == await path_of(user.tenant, card) != shown
    page = await user.see(f"cards/{card.id}")
    assert "link shown" in page
    assert "link changed" in page
    assert not LINK.search(page), "the card's page itself shows no link"


async def test_looking_at_a_card_makes_no_link(user: BrowserSession) -> None:
    card = await user.tenant.card()
    await user.see(f"cards/{card.id}")
    async with user.tenant.db.autocommit() as tx:
        assert await tx.value("SELECT count(*) FROM card_link WHERE organization_id = $1", user.tenant.id) == 0


async def test_a_revoked_card_has_no_link(user: BrowserSession) -> None:
    card = await user.tenant.card()
    await user.tenant.move_card(card, CardStatus.REVOKED)
    assert f"cards/{card.id}/link" not in await user.see(f"cards/{card.id}")
    await user.send(f"cards/{card.id}/link", status=409)
