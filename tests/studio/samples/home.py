"""Ids and forms for the routes of the home page."""

from tests import factory


async def ids(tenant: factory.Tenant) -> dict[str, str]:
    return {}


FORMS = {"POST /studio/{mode}/home/try": dict[str, str](), "POST /studio/{mode}/home/dismiss": dict[str, str]()}
# The audit entry of its trial key names the studio as the actor. A checklist is put away by a person for themselves.
UNAUDITED = {"POST /studio/{mode}/home/try", "POST /studio/{mode}/home/dismiss"}
# Parts of pages, for htmx.
PARTS = {"GET /studio/{mode}/home/try/webhook"}
