"""Every route: with every role, without a session, with others' ids, from another site, with bad text."""

import pytest

from gatepass.domain.staff import MAY, Role
from gatepass.studio.reception import Reception
from tests import make
from tests.studio.desk import Desk, browser, sit_down
from tests.studio.walk import RAW, XSS, Walk, all_ids, form_of, named, walks

WALKS = walks()
CHANGES = [walk for walk in WALKS if walk.method != "GET"]
SECTIONS = [walk for walk in WALKS if "{mode}" in walk.path]
PAGES = [walk for walk in WALKS if walk.method == "GET" and str(walk) not in named("STREAMS")]


def test_every_section_needs_a_permission_and_a_session() -> None:
    assert SECTIONS
    assert [str(walk) for walk in SECTIONS if not walk.guarded] == []
    assert [str(walk) for walk in CHANGES if "{mode}" in walk.path and walk.permission is None] == []


@pytest.mark.parametrize("role", Role)
async def test_a_role_reaches_what_it_may_and_nothing_else(studio: Reception, house: make.House, role: Role) -> None:
    ids = await all_ids(house)
    async with await sit_down(studio, house, role) as desk:
        for walk in SECTIONS:
            if str(walk) in named("STREAMS") and (walk.permission is None or walk.permission in MAY[role]):
                continue
            answer = await desk.client.request(walk.method, walk.url(ids))
            allowed = walk.permission is None or walk.permission in MAY[role]
            assert (answer.status_code != 403) is allowed, (role, str(walk), answer.status_code)
            if walk.method == "GET" and allowed:
                assert answer.status_code in (200, 303), (role, str(walk), answer.status_code, answer.text[:1500])
            assert answer.status_code < 500, (role, str(walk), answer.text[:1500])


async def test_without_a_session_one_is_sent_to_sign_in(studio: Reception, house: make.House) -> None:
    ids = await all_ids(house)
    async with browser(studio) as stranger:
        for walk in WALKS:
            if walk.guarded:
                answer = await stranger.request(walk.method, walk.url(ids))
                assert answer.status_code == 303, (str(walk), answer.status_code)
                assert answer.headers["location"].startswith("/studio/sign-in?next="), str(walk)


@pytest.mark.parametrize("mode", ["live", "sandbox"])
async def test_another_organizations_things_are_not_here(desk: Desk, mode: str) -> None:
    theirs = await all_ids(await make.house(desk.house.db))
    for walk in SECTIONS:
        if walk.takes_ids:
            form = form_of(walk) if walk.method != "GET" else None
            answer = await desk.client.request(walk.method, walk.url(theirs, mode), data=form)
            assert answer.status_code == 404, (str(walk), mode, answer.status_code, answer.text[:500])


@pytest.mark.parametrize(
    "headers",
    [
        {"Sec-Fetch-Site": "cross-site"},
        {"Sec-Fetch-Site": "same-site"},
        {"Sec-Fetch-Site": "none"},
        {"Origin": "https://evil.test"},
        {"Origin": "null"},
        {"Origin": "https://studio.test.evil.test"},
        {},
    ],
    ids=str,
)
async def test_no_change_is_made_for_another_site(desk: Desk, headers: dict[str, str]) -> None:
    ids = await all_ids(desk.house)
    desk.client.headers.pop("Sec-Fetch-Site")
    before = await _notes(desk)
    assert CHANGES
    for walk in CHANGES:
        answer = await desk.client.request(walk.method, walk.url(ids), headers=headers)
        assert (answer.status_code, str(walk)) == (403, str(walk))
    assert await _notes(desk) == before


@pytest.mark.parametrize("walk", [walk for walk in CHANGES if "{mode}" in walk.path], ids=str)
async def test_every_change_is_in_the_audit(desk: Desk, walk: Walk) -> None:
    ids = await all_ids(desk.house)
    before = await _notes(desk)
    answer = await desk.client.request(walk.method, walk.url(ids), data=form_of(walk))
    assert answer.status_code in (200, 303), (answer.status_code, answer.text[:2000])
    after = await _notes(desk)
    if str(walk) in named("UNNOTED"):
        assert after == before
    else:
        assert after > before, "who, what, when and from where"


@pytest.mark.parametrize("mode", ["live", "sandbox"])
async def test_no_page_shows_what_people_typed_as_it_is(desk: Desk, mode: str) -> None:
    ids = await all_ids(desk.house)
    for walk in PAGES:
        query = dict.fromkeys((*walk.queries, "q", "next", "cursor"), XSS)
        for params in ({}, query):
            answer = await desk.client.get(walk.url(ids, mode), params=params)
            assert answer.status_code < 500, (str(walk), answer.text[:500])
            if answer.headers.get("content-type", "").startswith("text/html"):
                assert RAW not in answer.text, str(walk)


async def test_every_answer_has_the_policy(desk: Desk) -> None:
    for rest in ("home", "nothing", "/studio/static/studio.css"):
        answer = await desk.client.get(desk.url(rest))
        policy = answer.headers["content-security-policy"]
        assert "unsafe" not in policy
        assert policy.startswith("default-src 'none'")
        assert answer.headers["x-content-type-options"] == "nosniff"
        assert answer.headers["x-request-id"].startswith("req_")


async def _notes(desk: Desk) -> int:
    """How many changes this person made, each of them with an address."""
    async with desk.house.db.reading() as tx:
        return await tx.value(
            "SELECT count(*) FROM change WHERE organization_id = $1 AND actor = $2 AND address IS NOT NULL",
            desk.house.id,
            f"person {desk.person.id}",
        )
