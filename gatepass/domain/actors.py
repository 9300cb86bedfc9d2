"""Actors by name: an entry of the audit log names a person or a key by its id."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final
from uuid import UUID

from gatepass.base.database import Tx
from gatepass.base.ids import strict_uuid
from gatepass.domain import keys


@dataclass(frozen=True, slots=True)
class Actor:
    """`text` is the actor in the audit log, and the name of one that is no person and no key, such as a worker."""

    text: str
    name: str
    detail: str | None = None


@dataclass(frozen=True, slots=True)
class _Person:
    id: UUID
    name: str
    email: str


@dataclass(frozen=True, slots=True)
class _Device:
    id: UUID
    name: str


KINDS: Final = ("person ", "key ", "device ")


async def find_actors(tx: Tx, organization_id: UUID, texts: Iterable[str | None]) -> dict[str, Actor]:
    """These actors of the organization's audit log, by their texts. People who have left are named too."""
    wanted = {text for text in texts if text is not None}
    ids = {text: id for text in wanted if (id := strict_uuid(text.partition(" ")[2])) is not None}
    of_kind = {kind: {text: id for text, id in ids.items() if text.startswith(kind)} for kind in KINDS}
    people = await tx.all(_Person, PEOPLE, list(of_kind["person "].values())) if of_kind["person "] else []
    found = await keys.names_of(tx, organization_id, of_kind["key "].values()) if of_kind["key "] else {}
    of_devices = list(of_kind["device "].values())
    devices = await tx.all(_Device, DEVICES, organization_id, of_devices) if of_devices else []
    known = {person.id: Actor("", person.name, person.email) for person in people}
    known |= {id: Actor("", f"API key {key.name}", f"…{key.last_four}") for id, key in found.items()}
    known |= {device.id: Actor("", f"device {device.name}") for device in devices}
    return {text: _actor(text, known.get(ids[text]) if text in ids else None) for text in wanted}


def _actor(text: str, known: Actor | None) -> Actor:
    return Actor(text, text) if known is None else Actor(text, known.name, known.detail)


DEVICES: Final = """
    SELECT id, name
      FROM device
     WHERE organization_id = $1
       AND id = ANY ($2)
"""

PEOPLE: Final = """
    SELECT id, name, CASE WHEN removed_at IS NULL THEN email ELSE 'account removed' END AS email
      FROM person
     WHERE id = ANY ($1)
"""
