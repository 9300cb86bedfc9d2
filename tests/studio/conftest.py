"""The studio in this process, and people signed in to it."""

from collections.abc import AsyncGenerator

import httpx2
import pytest
from pydantic import SecretStr

from gatepass.base.database import Database
from gatepass.base.settings import Settings
from gatepass.studio.app import create_app
from gatepass.studio.reception import Reception
from tests import make
from tests.studio.desk import Desk, sit_down


@pytest.fixture(scope="session")
def settings(database_url: str) -> Settings:
    return Settings(
        database_url=SecretStr(database_url),
        encryption_keys=[SecretStr(make.KEY)],
        public_url="https://studio.test",
        metrics_port=0,
        log_level="error",
        webhook_allow_private=True,
    )


@pytest.fixture(scope="session")
async def studio(settings: Settings, db: Database) -> AsyncGenerator[Reception]:
    app = create_app(settings)
    async with app.studio.opened():
        yield app


@pytest.fixture
async def desk(studio: Reception, house: make.House) -> AsyncGenerator[Desk]:
    """An owner of a fresh organization, signed in."""
    async with await sit_down(studio, house) as desk:
        yield desk


@pytest.fixture
async def stranger(studio: Reception) -> AsyncGenerator[httpx2.AsyncClient]:
    """A browser without a session."""
    from tests.studio.desk import browser

    async with browser(studio) as client:
        yield client
