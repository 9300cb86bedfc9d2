"""Ids and forms for the routes of static files."""

from tests import factory


async def ids(tenant: factory.Tenant) -> dict[str, str]:
    return {"name": "studio.css"}


FORMS = {}
UNAUDITED = set[str]()
DOWNLOADS = set[str]()
