"""Ids and forms for the look of the card page."""

from gatepass.domain import card_look
from tests import factory
from tests.pictures import png
from tests.studio.routes import XSS


async def ids(tenant: factory.Tenant) -> dict[str, str]:
    """An organization that has chosen everything, so that the page shows it."""
    async with tenant.db.transaction() as tx:
        await card_look.change(
            tx, tenant.id, shows_name=True, colour="#336699", line=XSS, by=factory.BY, at=factory.now()
        )
        await card_look.set_logo(tx, tenant.id, png(120, 60), by=factory.BY, at=factory.now())
        look = await card_look.find(tx, tenant.id)
    return {"logo_id": str(look.logo_id)}


FORMS = {
    "POST /studio/{mode}/settings/card-page": {"colour": "#123456", "line": XSS, "shows_name": "true"},
    # Without a file the logo is taken away.
    "POST /studio/{mode}/settings/card-page/logo": dict[str, str](),
}
DOWNLOADS = {"GET /studio/{mode}/settings/card-page/logo/{logo_id}"}
