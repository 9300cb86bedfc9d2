"""Who did it, in words: changes name a person or a key by its id."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final
from uuid import UUID

from gatepass.base.database import Tx
from gatepass.base.ids import strict_uuid
from gatepass.domain import keys


@dataclass(frozen=True, slots=True)
class Actor:
    """`text` is what changes say. Who is no person and no key, such as a worker, is called by it."""

    text: str
    name: str
    detail: str | None = None


@dataclass(frozen=True, slots=True)
class _Person:
    id: UUID
    name: str
    email: str


async def actors_named(tx: Tx, organization_id: UUID, texts: Iterable[str | None]) -> dict[str, Actor]:
    """These actors of the organization's own changes, by what the changes call them. Who has left is named too."""
    wanted = {text for text in texts if text is not None}
    ids = {text: id for text in wanted if (id := strict_uuid(text.partition(" ")[2])) is not None}
    of_kind = {kind: {text: id for text, id in ids.items() if text.startswith(kind)} for kind in ("person ", "key ")}
    people = await tx.all(_Person, PEOPLE, list(of_kind["person "].values())) if of_kind["person "] else []
    called = await keys.names_of(tx, organization_id, of_kind["key "].values()) if of_kind["key "] else {}
    known = {person.id: Actor("", person.name, person.email) for person in people}
    known |= {id: Actor("", f"API key {key.name}", f"…{key.last_four}") for id, key in called.items()}
    return {text: _called(text, known.get(ids[text]) if text in ids else None) for text in wanted}


def _called(text: str, known: Actor | None) -> Actor:
    return Actor(text, text) if known is None else Actor(text, known.name, known.detail)


PEOPLE: Final = """
    SELECT id, name, email
      FROM person
     WHERE id = ANY ($1)
"""
