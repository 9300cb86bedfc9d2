"""The check of a URL before an endpoint is saved."""

from gatepass.studio.webhooks.preflight import LOOKS
from tests import factory
from tests.receivers import receiving
from tests.studio.browser_session import BrowserSession, sign_in
from tests.studio.samples.webhooks import CLOSED
from tests.studio.webhooks.stored import URL, endpoints


async def test_a_look_at_a_url_keeps_the_form_and_saves_nothing(user: BrowserSession) -> None:
    async with receiving() as receiver:
        fields = {"url": receiver.url(), "types": ["scan.denied"], "description": "Door list"}
        page = (await user.send("webhooks/preflight", status=200, **fields)).text
    assert "This URL can be reached" in page
    assert "Door list" in page
    assert 'value="scan.denied" checked' in page
    assert await endpoints(user) == []
    assert receiver.messages == []


async def test_a_look_at_what_cannot_be_reached_says_where_it_ends(user: BrowserSession) -> None:
    page = (await user.send("webhooks/preflight", status=200, url=CLOSED)).text
    assert "This URL cannot be reached" in page
    assert "Nobody takes connections on port 1." in page


async def test_looks_are_not_without_end(user: BrowserSession) -> None:
    for _ in range(LOOKS.burst):
        await user.send("webhooks/preflight", status=200, url="nonsense")
    page = (await user.send("webhooks/preflight", status=422, url="nonsense")).text
    assert "The next one is possible in" in page
    async with await colleague_of(user) as other:
        await other.send("webhooks/preflight", status=200, url="nonsense")


async def colleague_of(user: BrowserSession) -> BrowserSession:
    """Another person of the same organization."""
    transport = user.client._transport
    return await sign_in(transport.app, user.tenant)  # type: ignore[attr-defined]


async def test_a_look_while_editing_stays_on_the_edit(user: BrowserSession) -> None:
    id, _ = await user.tenant.endpoint(URL)
    page = (await user.send("webhooks/preflight", status=200, url="nonsense", endpoint_id=str(id))).text
    assert f'action="{user.root()}webhooks/{id}/edit"' in page
    theirs, _ = await (await factory.tenant(user.tenant.db)).endpoint(URL)
    for foreign in (str(theirs), "nonsense"):
        await user.send("webhooks/preflight", status=404, url="nonsense", endpoint_id=foreign)
