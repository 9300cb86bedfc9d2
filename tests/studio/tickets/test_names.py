"""The forms of the studio take the names that the API takes, and no others."""

import pytest
from pydantic import BaseModel

from gatepass.studio.tickets.holders import HolderForm
from gatepass.studio.tickets.tickets import NewTicketForm
from gatepass.studio.web.forms import Form
from tests.domain.cards.names import ACCEPTED, REFUSED
from tests.studio.browser_session import BrowserSession
from tests.studio.tickets.test_tickets import handed


@pytest.mark.parametrize("kind", [HolderForm, NewTicketForm])
def test_forms_take_names_of_the_world(kind: type[BaseModel]) -> None:
    for name in ACCEPTED:
        read = Form.of(name=name, category="x").read(kind)
        assert read is not None
        assert read.model_dump()["name"] == name
    for text in REFUSED:
        form = Form.of(name=text, category="x", email="ann@example.org")
        assert form.read(kind) is None, ascii(text)
        assert set(form.errors) == {"name"}


async def test_a_holder_gets_a_name_with_a_joiner_and_none_with_an_override(user: BrowserSession) -> None:
    made = await handed(user, "Ane")
    place = f"cards/{made.card_id}"
    version = (await user.see(f"{place}/holder")).partition('name="version" value="')[2].partition('"')[0]
    refused = await user.send(f"{place}/holder", status=422, name="\u202eenA", version=version)
    assert "cannot be shown" in refused.text
    await user.send(f"{place}/holder", name="ශ්\u200dරී", version=version)
    assert "ශ්\u200dරී" in await user.see(place)


async def test_a_ticket_is_not_issued_to_what_is_no_address(user: BrowserSession) -> None:
    place = f"events/{user.tenant.event_id}/tickets/new"
    category = str(user.tenant.category_id)
    answer = await user.send(place, status=422, category=category, name="Ann", email="ann")
    assert "not an e-mail address" in answer.text
