"""Ids and forms for the routes of the home page."""

from tests import factory


async def ids(tenant: factory.Tenant) -> dict[str, str]:
    return {}


FORMS = {"POST /studio/{mode}/home/try": dict[str, str]()}
# The audit entry of its trial key names the studio as the actor, not the person.
UNAUDITED = {"POST /studio/{mode}/home/try"}
# Parts of pages, for htmx.
PARTS = {"GET /studio/{mode}/home/try/webhook"}
