"""Card pages in this process, and visitors of them."""

from collections.abc import AsyncGenerator

import httpx2
import pytest

from gatepass.base.database import Database
from gatepass.base.settings import Settings
from gatepass.card_page.app import create_app
from gatepass.card_page.middleware import Middleware
from tests import factory
from tests.server.asgi import TaskTransport

ORIGIN = "https://cards.test"


@pytest.fixture(scope="session")
def settings(database_url: str) -> Settings:
    return factory.settings(database_url, public_url=ORIGIN)


@pytest.fixture
async def pages(settings: Settings, db: Database) -> AsyncGenerator[Middleware]:
    app = create_app(settings)
    async with app.pages.opened():
        yield app


@pytest.fixture
async def visitor(pages: Middleware) -> AsyncGenerator[httpx2.AsyncClient]:
    transport = TaskTransport(app=pages, client=("192.0.2.1", 1))
    async with httpx2.AsyncClient(transport=transport, base_url=ORIGIN) as client:
        yield client
