"""The files that `gatepass dev` keeps in `./.gatepass` between starts. Only their owner may read them."""

import json
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import asdict
from typing import Any, Final
from uuid import UUID

from gatepass.base import encryption
from gatepass.base.clock import system_clock
from gatepass.base.settings import Settings
from gatepass.cli import database, running_dev
from gatepass.cli.demo.build import build
from gatepass.cli.private_file import write_private
from gatepass.domain import organizations, staff
from gatepass.domain.staff import Role

HOME: Final = running_dev.FOLDER
POSTGRES: Final = HOME / "postgres"
ENCRYPTION_KEY: Final = HOME / "encryption_key"
DEMO: Final = HOME / "demo.json"
ENVIRONMENT: Final = HOME / "dev.env"
# The person who opens the studio on a developer's own machine.
DEVELOPER: Final = "you@localhost"


def encryption_key() -> str:
    """The key that seals this directory's secrets, made when there is none."""
    if not ENCRYPTION_KEY.exists():
        write_private(ENCRYPTION_KEY, encryption.new_key())
    return ENCRYPTION_KEY.read_text().strip()


async def demo_of(settings: Settings, *, reset: bool) -> tuple[dict[str, Any], bool]:
    """The demo of this directory, and whether it was made just now: at first, on `reset`, or when it is gone."""
    kept = None if reset else await _kept_demo(settings)
    shown = kept or asdict(await build(settings, reset=reset))
    shown["base_url"] = settings.base_url
    write_private(DEMO, json.dumps(shown, indent=2))
    return shown, kept is None


async def _kept_demo(settings: Settings) -> dict[str, Any] | None:
    with suppress(FileNotFoundError, ValueError, KeyError, TypeError):
        kept = json.loads(DEMO.read_text())
        organization_id = UUID(kept["organization_id"])
        async with database.database(settings) as db, db.autocommit() as tx:
            return kept if await organizations.find(tx, organization_id) else None
    return None


async def studio_link(settings: Settings, organization_id: UUID) -> str:
    """A URL that opens the studio of this organization, signed in, once. Passkeys need a host name, not an address."""
    async with database.database(settings) as db, db.transaction() as tx:
        at = system_clock()
        person = await staff.find_person(tx, DEVELOPER) or await staff.enrol(tx, DEVELOPER, "You", at=at, proven=True)
        await staff.join(tx, organization_id, person.id, Role.OWNER, by="gatepass dev", at=at)
        token = await staff.make_link(tx, person.id, cell=settings.cell, at=at)
    return f"{settings.public_url.replace('//127.0.0.1', '//localhost')}/studio/link/{token}"


def write_environment(variables: Mapping[str, str]) -> None:
    """For `source .gatepass/dev.env` in another terminal."""
    write_private(ENVIRONMENT, "".join(f"export {name}={value}\n" for name, value in variables.items()))
