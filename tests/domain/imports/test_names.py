"""A guest list takes the names that the API takes, and no others."""

from gatepass.base.text import safe_line
from gatepass.domain.imports import ImportState
from tests.domain.cards.names import ACCEPTED, REFUSED
from tests.domain.imports.conftest import Desk

# No reader of CSV gets this far with it.
STORABLE = [text for text in REFUSED if "\0" not in text]


async def test_names_of_the_world_are_imported_as_they_are_written(desk: Desk) -> None:
    job = await desk.applied("Name\n" + "".join(map(as_line, ACCEPTED)), category_id=desk.tenant.category_id)
    assert (job.state, job.faulty, job.tickets_made) == (ImportState.DONE, 0, len(ACCEPTED))
    async with desk.tenant.db.autocommit() as tx:
        held = await tx.rows("SELECT name FROM card_holder WHERE organization_id = $1", desk.tenant.id)
    assert sorted(one["name"] for one in held) == sorted(ACCEPTED)


async def test_what_no_card_can_show_is_a_fault_of_its_row(desk: Desk) -> None:
    job = await desk.checked(
        "Name,E-mail\n" + "".join(as_line(text, "ann@example.org") for text in STORABLE),
        category_id=desk.tenant.category_id,
    )
    assert set((await desk.codes(job.id)).values()) == {"name_unprintable"}
    assert job.faulty == len(STORABLE)


def as_line(*cells: str) -> str:
    return safe_line(cells)
