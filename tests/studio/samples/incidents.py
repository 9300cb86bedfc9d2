"""An incident with every text that somebody can type, and letting in by hand."""

from gatepass.domain import incidents
from tests import factory
from tests.studio.routes import XSS


async def ids(tenant: factory.Tenant) -> dict[str, str]:
    """Somebody was let in by hand with a card that has no ticket."""
    card = await tenant.card(with_ticket=False)
    async with tenant.db.transaction() as tx:
        done = await incidents.let_in(
            tx, tenant.id, card.id, tenant.event_id, reason=XSS, by=factory.BY, at=factory.now()
        )
    return {"incident_id": str(done.incident_id)}


FORMS = {
    "POST /studio/{mode}/events/{event_id}/incidents/{incident_id}/close": {"note": XSS},
    "POST /studio/{mode}/cards/{card_id}/let-in/{event_id}": {"reason": XSS},
    "POST /studio/{mode}/events/{event_id}/lead/{card_id}": {"reason": XSS},
}
