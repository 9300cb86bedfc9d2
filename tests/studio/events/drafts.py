"""Drafts of events, made by posting the form."""

from typing import Any
from uuid import UUID

from gatepass.domain import events
from gatepass.domain.events import CatalogueEntry
from tests.studio.browser_session import BrowserSession
from tests.studio.samples.events import DETAILS

NIGHT = DETAILS | {"title": "Long Night", "description": "Bring\r\nsoup.", "venue": "Hall", "city": "Ghent"}


def id_in(location: str) -> UUID:
    return UUID(location.split("/events/")[1][:36])


async def found(user: BrowserSession, event_id: UUID) -> CatalogueEntry:
    async with user.tenant.db.autocommit() as tx:
        return await events.find(tx, user.tenant.id, event_id)


async def make_draft(user: BrowserSession, **fields: Any) -> UUID:
    return id_in((await user.send("events/new", **(NIGHT | fields))).headers["location"])
