"""Links of cards, for tests of what they show."""

from gatepass.domain import cards
from gatepass.domain.cards import Card
from tests import factory


async def path_of(tenant: factory.Tenant, card: Card) -> str:
    """The path of the card's page, `/c/<token>`."""
    async with tenant.db.transaction() as tx:
        token = await cards.link_of(tx, tenant.id, card.id, factory.VAULT, tenant.cell, at=factory.now())
    return f"/c/{token}"


async def changed_path_of(tenant: factory.Tenant, card: Card) -> str:
    async with tenant.db.transaction() as tx:
        token = await cards.change_link(
            tx, tenant.id, card.id, factory.VAULT, tenant.cell, by=factory.BY, at=factory.now()
        )
    return f"/c/{token}"
