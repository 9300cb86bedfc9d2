"""Ids for the routes of the documents."""

from tests import factory


async def ids(tenant: factory.Tenant) -> dict[str, str]:
    return {"document": "events"}


FORMS = {}
