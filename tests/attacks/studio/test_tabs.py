"""Two tabs of one person, in two organizations or in live and sandbox: what one shows, the other cannot act on.

Each form, stream and download is sent from the wrong tab. Whether anything was done is seen in the rows of both
organizations and their sandboxes.
"""

from collections.abc import AsyncGenerator
from dataclasses import dataclass
from typing import Any, Final
from uuid import UUID

import httpx2
import pytest

from gatepass.base.database import Database
from gatepass.domain import staff, twin
from gatepass.domain.staff import Role
from gatepass.studio.middleware import Middleware
from gatepass.studio.services.templates import root_of
from tests import factory
from tests.studio.browser_session import BrowserSession, sign_in
from tests.studio.routes import Walk, all_ids, form_of, named, walks

SECTIONS: Final = [walk for walk in walks() if "{mode}" in walk.path]
FORMS: Final = [walk for walk in SECTIONS if walk.method == "POST"]
OPENED: Final = [walk for walk in SECTIONS if walk.method == "GET"]
# Routes without an organization in their address are those of a person, and those that need no session.
OF_A_PERSON: Final = ("account", "address", "confirm", "link", "organizations", "sign-in", "sign-out", "welcome")
TABLES: Final = """
    SELECT c.relname FROM pg_class c
      JOIN pg_attribute a ON a.attrelid = c.oid AND a.attname = 'organization_id' AND NOT a.attisdropped
     WHERE c.relkind IN ('r', 'p') AND NOT c.relispartition AND c.relnamespace = 'public'::regnamespace
       AND c.relname <> 'session'
     ORDER BY 1
"""


@dataclass
class Tabs:
    """`user` owns both organizations and works in `there`, since another tab switched. The old tab shows `here`."""

    user: BrowserSession
    here: factory.Tenant
    there: factory.Tenant
    ids: dict[str, str]

    @property
    def db(self) -> Database:
        return self.here.db

    async def switch(self, to: factory.Tenant) -> None:
        await self.user.send("/studio/organizations", organization_id=str(to.id))

    async def contents(self) -> dict[str, str]:
        """A digest of every row of both organizations and their sandboxes, by table."""
        ids: list[UUID] = [id for one in (self.here, self.there) for id in (one.id, twin.twin_id(one.id))]
        found: dict[str, str] = {}
        async with self.db.autocommit() as tx:
            for row in await tx.rows(TABLES):
                rows = f'SELECT md5(t::text) h FROM "{row["relname"]}" t WHERE organization_id = ANY ($1)'
                digest: Any = f"SELECT md5(string_agg(h, '' ORDER BY h)) FROM ({rows}) x"
                found[row["relname"]] = await tx.value(digest, ids)
        return found

    async def posted(self, walk: Walk, url: str, tab: str | None = None) -> httpx2.Response:
        """The form as a tab sends it: with the address of its page, unless the browser hides that."""
        headers = {"Referer": f"https://studio.test{tab}"} if tab else {}
        return await self.user.client.post(url, data=form_of(walk), headers=headers)


@pytest.fixture
async def tabs(mailing_studio: Middleware, db: Database) -> AsyncGenerator[Tabs]:
    here, there = await factory.tenant(db), await factory.tenant(db)
    async with await sign_in(mailing_studio, here) as user:
        async with db.transaction() as tx:
            await staff.join(tx, there.id, user.person.id, Role.OWNER, by=factory.BY, at=factory.now())
        found = Tabs(user, here, there, await all_ids(here))
        await found.switch(there)
        yield found


def test_what_names_no_organization_is_a_persons_own() -> None:
    others = {walk.path.split("/")[2] for walk in walks() if "{mode}" not in walk.path and walk.method == "POST"}
    assert others <= set(OF_A_PERSON)
    assert len(FORMS) > 80


@pytest.mark.parametrize("hidden", [False, True], ids=["with a Referer", "without"])
@pytest.mark.parametrize("mode", ["live", "sandbox"])
async def test_no_form_of_another_organization_acts(tabs: Tabs, mode: str, *, hidden: bool) -> None:
    before = await tabs.contents()
    for walk in FORMS:
        url = walk.url(tabs.ids, mode)
        answer = await tabs.posted(walk, url, None if hidden else f"{root_of(tabs.here.id, mode)}/home")
        assert answer.status_code == 409, (str(walk), answer.status_code)
        assert "What you sent was not done." in answer.text
        assert f'name="organization_id" value="{tabs.here.id}"' in answer.text, "it offers to switch"
    assert await tabs.contents() == before


@pytest.mark.parametrize("mode", ["live", "sandbox"])
async def test_no_page_stream_or_download_of_another_organization_is_shown(tabs: Tabs, mode: str) -> None:
    before = await tabs.contents()
    files = named("STREAMS") | named("DOWNLOADS") | named("PARTS")
    assert {str(walk) for walk in OPENED} >= {one for one in files if "{mode}" in one and one.startswith("GET")}
    for walk in OPENED:
        answer = await tabs.user.client.get(walk.url(tabs.ids, mode))
        assert answer.status_code == 409, (str(walk), answer.status_code)
        assert "Summer Opening" not in answer.text
    assert await tabs.contents() == before


@pytest.mark.parametrize("mode", ["live", "sandbox"])
async def test_no_form_without_an_organization_acts(tabs: Tabs, mode: str) -> None:
    """A tab from before addresses had one, or a bookmark of a form."""
    before = await tabs.contents()
    theirs = await all_ids(tabs.there)
    before = await tabs.contents()
    for walk in FORMS:
        url = walk.url(theirs, mode).replace(f"/o/{tabs.there.id}", "")
        assert (await tabs.posted(walk, url)).status_code == 409, str(walk)
    assert await tabs.contents() == before


@pytest.mark.parametrize(("mode", "other"), [("live", "sandbox"), ("sandbox", "live")])
@pytest.mark.parametrize("whose", ["of the same", "of another"])
async def test_no_form_from_a_page_of_the_other_mode_or_organization_acts(
    tabs: Tabs, mode: str, other: str, whose: str
) -> None:
    """A page whose forms, by a fault of ours, had the address of another tab."""
    await tabs.switch(tabs.here)
    before = await tabs.contents()
    tab = root_of(tabs.here.id, other) if whose == "of the same" else root_of(tabs.there.id, mode)
    for walk in FORMS:
        answer = await tabs.posted(walk, walk.url(tabs.ids, mode), f"{tab}/home?a=b")
        assert (answer.status_code, "What you sent was not done." in answer.text) == (409, True), str(walk)
    assert await tabs.contents() == before


@pytest.mark.parametrize("spelling", ["{}", "{}/", "{{{}}}", "urn:uuid:{}", "%20{}", "nothing"])
async def test_no_spelling_of_another_organization_is_answered(tabs: Tabs, spelling: str) -> None:
    stranger = await factory.tenant(tabs.db)
    for id in (stranger.id, tabs.here.id):
        if spelling != "{}" or id == stranger.id:
            answer = await tabs.user.client.get(f"/studio/o/{spelling.format(id)}/live/keys")
            assert answer.status_code == 404


async def test_an_invitation_from_the_old_tab_invites_nobody_until_its_person_switches(tabs: Tabs) -> None:
    """What was seen in a review: tab 1 shows one organization, tab 2 switches, tab 1 invites into the other."""
    page = f"{root_of(tabs.here.id, 'live')}/team/invite"
    form = {"email": "intern@example.org", "role": "admin"}
    headers = {"Referer": f"https://studio.test{page}"}
    refused = await tabs.user.client.post(page, data=form, headers=headers)
    assert (refused.status_code, f'name="next" value="{page}"' in refused.text) == (409, True)
    switched = await tabs.user.send("/studio/organizations", organization_id=str(tabs.here.id), next=page)
    assert switched.headers["location"] == page
    assert (await tabs.user.client.post(page, data=form, headers=headers)).status_code == 200
    async with tabs.db.autocommit() as tx:
        sql = "SELECT organization_id FROM invitation WHERE organization_id = ANY ($1) AND email = 'intern@example.org'"
        assert [row[0] for row in await tx.rows(sql, [tabs.here.id, tabs.there.id])] == [tabs.here.id]


async def test_a_part_of_an_old_page_is_left_for_the_whole_one(tabs: Tabs) -> None:
    page = f"{root_of(tabs.here.id, 'live')}/keys/preview"
    answer = await tabs.user.client.get(page, headers={"HX-Request": "true"})
    assert (answer.status_code, answer.headers["hx-redirect"]) == (204, page)


@pytest.mark.parametrize("path", ["live/keys", "sandbox/keys?show=all", "live/%2e%2e/account", "live//evil.test/x"])
async def test_an_old_address_leads_to_the_page_of_the_session(tabs: Tabs, path: str) -> None:
    answer = await tabs.user.client.get(f"/studio/{path}")
    assert answer.status_code in (303, 404)
    assert answer.headers.get("location", root_of(tabs.there.id, "live")).startswith(f"/studio/o/{tabs.there.id}/")
