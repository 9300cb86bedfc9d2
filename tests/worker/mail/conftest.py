"""A database for each module, and a mail server that runs as a process."""

from collections.abc import AsyncGenerator, Generator
from pathlib import Path

import pytest

from gatepass.base.database import Database
from gatepass.domain.mail import Mailer
from tests import factory
from tests.mail_server import MailServer, mail_server
from tests.postgres import Cluster
from tests.worker.conftest import own_database


@pytest.fixture(scope="module")
async def own(cluster: Cluster, request: pytest.FixtureRequest) -> AsyncGenerator[Database]:
    async with own_database(cluster, f"gatepass_mail_{request.module.__name__.rpartition('.')[2]}") as database:
        yield database


@pytest.fixture
async def tenant(own: Database) -> factory.Tenant:
    return await factory.tenant(own)


@pytest.fixture
def server(tmp_path: Path) -> Generator[MailServer]:
    with mail_server(tmp_path) as started:
        yield started


@pytest.fixture
def mailer() -> Mailer:
    return Mailer(factory.VAULT, enabled=True)
