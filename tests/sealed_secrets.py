"""Rows with sealed secrets: many signing keys, and endpoints in every state."""

from dataclasses import dataclass
from typing import Final
from uuid import UUID

from nacl.signing import SigningKey

from gatepass.base.database import Database
from gatepass.base.encryption import Vault
from gatepass.base.ids import new_id
from gatepass.domain import organizations
from tests import factory

SECRET: Final = b"whsec_the_secret"
NEW_SECRET: Final = b"whsec_the_new_secret"


@dataclass(frozen=True)
class Boxes:
    """The sealed secrets in an endpoint's row."""

    secret: bytes
    new_secret: bytes | None


async def organization(db: Database) -> UUID:
    async with db.transaction() as tx:
        return (await organizations.create(tx, "Test", at=factory.now())).id


async def signing_keys(db: Database, organization_id: UUID, vault: Vault, count: int) -> list[UUID]:
    made = [(new_id(), SigningKey.generate()) for _ in range(count)]
    rows = [
        (
            organization_id,
            id,
            bytes(key.verify_key),
            vault.seal(bytes(key), f"signing_key {organization_id} {id}"),
            factory.now(),
        )
        for id, key in made
    ]
    columns = ("organization_id", "id", "public_key", "sealed_private_key", "created_at")
    async with db.transaction() as tx:
        await tx.copy("signing_key", columns, rows)
    return [id for id, _ in made]


async def endpoint(db: Database, organization_id: UUID, vault: Vault, *, rotating: bool = False) -> UUID:
    id = new_id()
    place = context(organization_id, id)
    boxes = vault.seal(SECRET, place), vault.seal(NEW_SECRET, place) if rotating else None
    async with db.transaction() as tx:
        await tx.run(ADD, organization_id, id, *boxes)
    return id


async def promote(db: Database, endpoint_id: UUID) -> None:
    """The new secret takes the place of the old one."""
    async with db.transaction() as tx:
        await tx.run(PROMOTE, endpoint_id)


async def delete(db: Database, endpoint_id: UUID) -> None:
    async with db.transaction() as tx:
        await tx.run(DELETE, endpoint_id)


async def boxes(db: Database, endpoint_id: UUID) -> Boxes:
    async with db.autocommit() as tx:
        found = await tx.one(Boxes, BOXES, endpoint_id)
    assert found is not None
    return found


def context(organization_id: UUID, endpoint_id: UUID) -> str:
    """Written out here: if the code ever seals with another text, older secrets do not open."""
    return f"webhook_endpoint {organization_id} {endpoint_id}"


ADD: Final = """
    INSERT INTO webhook_endpoint (organization_id, id, mode, url, types, sealed_secret, sealed_new_secret, created_at,
                                  created_by)
    VALUES ($1, $2, 'live', 'https://example.org/hook', '{ticket.activated}', $3, $4, now(), 'test')
"""
PROMOTE: Final = "UPDATE webhook_endpoint SET sealed_secret = sealed_new_secret, sealed_new_secret = NULL WHERE id = $1"
DELETE: Final = """
    UPDATE webhook_endpoint SET deleted_at = now(), sealed_secret = '', sealed_new_secret = NULL WHERE id = $1
"""
BOXES: Final = "SELECT sealed_secret AS secret, sealed_new_secret AS new_secret FROM webhook_endpoint WHERE id = $1"
