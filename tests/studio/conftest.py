"""The studio in this process, and people signed in to it."""

from collections.abc import AsyncGenerator
from itertools import count

import httpx2
import pytest
from pydantic import SecretStr

from gatepass.base.database import Database
from gatepass.base.settings import Settings
from gatepass.studio.app import create_app
from gatepass.studio.middleware import Middleware
from tests import factory
from tests.studio.browser_session import BrowserSession, sign_in

_addresses = count(1)


@pytest.fixture(scope="session")
def settings(database_url: str) -> Settings:
    return factory.settings(database_url, public_url="https://studio.test", webhook_allow_private=True)


@pytest.fixture(scope="session")
async def studio(settings: Settings, db: Database) -> AsyncGenerator[Middleware]:
    app = create_app(settings)
    async with app.studio.opened():
        yield app


@pytest.fixture(scope="session")
async def mailing_studio(settings: Settings, db: Database) -> AsyncGenerator[Middleware]:
    """A studio with a mail server. No worker runs: the letters stay where they are written."""
    mail = {"smtp_url": SecretStr("smtp://127.0.0.1:2525"), "mail_from": "Gatepass <studio@gatepass.test>"}
    app = create_app(settings.model_copy(update=mail))
    async with app.studio.opened():
        yield app


@pytest.fixture
async def user(studio: Middleware, tenant: factory.Tenant) -> AsyncGenerator[BrowserSession]:
    """An owner of a fresh organization, signed in."""
    async with await sign_in(studio, tenant) as user:
        yield user


@pytest.fixture
def still_clock(studio: Middleware, monkeypatch: pytest.MonkeyPatch) -> None:
    """It stands still: on a busy machine the first wait, a second, would be over before the next try."""
    at = factory.now()
    monkeypatch.setattr(studio.studio, "clock", lambda: at)


@pytest.fixture
async def stranger(studio: Middleware) -> AsyncGenerator[httpx2.AsyncClient]:
    """A browser without a session, from an address of its own: failed tries are counted by address."""
    from tests.studio.browser_session import browser

    n = next(_addresses)
    async with browser(studio, f"10.3.{n // 250}.{n % 250 + 1}") as client:
        yield client
