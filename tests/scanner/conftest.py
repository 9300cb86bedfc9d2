"""The scanner's pages in this process, and a visitor of them. They need no database."""

from collections.abc import AsyncGenerator

import httpx2
import pytest

from gatepass.gate.app import create_app
from tests import factory
from tests.server.asgi import TaskTransport

ORIGIN = "https://gates.test"


@pytest.fixture
async def visitor() -> AsyncGenerator[httpx2.AsyncClient]:
    settings = factory.settings("postgresql://nobody@127.0.0.1:9/none", public_url=ORIGIN)
    transport = TaskTransport(app=create_app(settings), client=("192.0.2.1", 1))
    async with httpx2.AsyncClient(transport=transport, base_url=ORIGIN) as client:
        yield client
