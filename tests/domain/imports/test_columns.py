"""What each column of a file holds: guessed, remembered, named again."""

import pytest

from gatepass.base.errors import InvalidRequest
from gatepass.domain import imports
from tests.domain.imports.conftest import Desk


async def test_first_and_last_names_are_one_name(desk: Desk) -> None:
    lines = "First name,Last name\nAnn,Lee\nBob,\n,Öz\n"
    await desk.applied(lines, category_id=desk.tenant.category_id)
    async with desk.tenant.db.autocommit() as tx:
        held = await tx.rows("SELECT name FROM card_holder WHERE organization_id = $1", desk.tenant.id)
    assert {one["name"] for one in held} == {"Ann Lee", "Bob", "Öz"}


async def test_columns_may_be_named_again_after_the_check(desk: Desk) -> None:
    job = await desk.checked("what,kind\nAnn,Standing\nBob,General\n", "name", "category")
    assert await desk.codes(job.id) == {2: "unknown_category"}
    await desk.name(job.id, "name", "", category_id=desk.tenant.category_id)
    again = await desk.worked(job.id)
    assert (again.faulty, await desk.codes(job.id)) == (0, {})
    assert (await desk.apply(job.id)).tickets_made == 2


async def test_columns_are_remembered_and_guessed(desk: Desk) -> None:
    assert imports.guess(["Card No.", "Full name", "E-Mail", "Ticket type", "Order ID", "Seat", "name"]) == [
        "card_number", "name", "email", "category", "reference", "", "",
    ]  # fmt: skip
    assert imports.guess(["Nom", "Prénom"]) == ["last_name", "name"]
    assert imports.guess(["Nom", "Courriel"]) == ["name", "email"]
    await desk.checked("guest,code\nAnn,1\n", "name", "reference", category_id=desk.tenant.category_id)
    import_id = await desk.stage("guest,code\nBob,2\n")
    async with desk.tenant.db.autocommit() as tx:
        job = await imports.find(tx, desk.tenant.id, import_id)
        assert await imports.remembered(tx, desk.tenant.id, job) == ["name", "reference"]


@pytest.mark.parametrize(
    ("columns", "param"),
    [
        (("", ""), "columns"),
        (("name", "name"), "columns"),
        (("last_name", ""), "columns"),
        (("name", ""), "category_id"),
    ],
)
async def test_columns_that_make_no_sense(desk: Desk, columns: tuple[str, ...], param: str) -> None:
    import_id = await desk.stage("a,b\n1,2\n")
    with pytest.raises(InvalidRequest) as refused:
        await desk.name(import_id, *columns)
    assert refused.value.param == param
