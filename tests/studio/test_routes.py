"""Every route: with every role, without a session, with others' ids, from another site, with bad text."""

import pytest

from gatepass.base.event_limit import EventLimit
from gatepass.domain.staff import MAY, Role
from gatepass.studio.middleware import Middleware
from tests import factory
from tests.studio.browser_session import BrowserSession, browser, sign_in
from tests.studio.routes import RAW, XSS, Walk, all_ids, form_of, named, walks

WALKS = walks()
CHANGES = [walk for walk in WALKS if walk.method != "GET"]
SECTIONS = [walk for walk in WALKS if "{mode}" in walk.path]
PAGES = [walk for walk in WALKS if walk.method == "GET" and str(walk) not in named("STREAMS")]


def test_every_section_needs_a_permission_and_a_session() -> None:
    assert SECTIONS
    assert [str(walk) for walk in SECTIONS if not walk.guarded] == []
    assert [str(walk) for walk in CHANGES if "{mode}" in walk.path and walk.permission is None] == []


@pytest.mark.parametrize("role", Role)
async def test_a_role_reaches_what_it_may_and_nothing_else(
    studio: Middleware, tenant: factory.Tenant, role: Role
) -> None:
    ids = await all_ids(tenant)
    refused: set[str] = set()
    begin_window(studio)
    async with await sign_in(studio, tenant, role) as user:
        for walk in SECTIONS:
            if str(walk) in named("STREAMS") and (walk.permission is None or walk.permission in MAY[role]):
                continue
            answer = await user.client.request(walk.method, walk.url(ids))
            allowed = walk.permission is None or walk.permission in MAY[role]
            assert (answer.status_code != 403) is allowed, (role, str(walk), answer.status_code)
            refused |= set() if allowed else {shown(walk)}
            if walk.method == "GET" and allowed:
                assert answer.status_code in (200, 303), (role, str(walk), answer.status_code, answer.text[:1500])
            assert answer.status_code < 500, (role, str(walk), answer.text[:1500])
        assert await _refusals(user, "not_permitted") == sorted(refused), "each is in the audit log, once"


async def test_without_a_session_one_is_sent_to_sign_in(studio: Middleware, tenant: factory.Tenant) -> None:
    ids = await all_ids(tenant)
    async with browser(studio) as stranger:
        for walk in WALKS:
            if walk.guarded:
                answer = await stranger.request(walk.method, walk.url(ids))
                assert answer.status_code == 303, (str(walk), answer.status_code)
                assert answer.headers["location"].startswith("/studio/sign-in?next="), str(walk)


@pytest.mark.parametrize("mode", ["live", "sandbox"])
async def test_another_organizations_things_are_not_here(user: BrowserSession, mode: str) -> None:
    theirs = await all_ids(await factory.tenant(user.tenant.db)) | {"organization": str(user.tenant.id)}
    for walk in SECTIONS:
        if walk.takes_ids:
            form = form_of(walk) if walk.method != "GET" else None
            answer = await user.client.request(walk.method, walk.url(theirs, mode), data=form)
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
async def test_no_change_is_made_for_another_site(
    studio: Middleware, user: BrowserSession, headers: dict[str, str]
) -> None:
    ids = await all_ids(user.tenant)
    begin_window(studio)
    user.client.headers.pop("Sec-Fetch-Site")
    before = await _audit_entries(user)
    assert CHANGES
    for walk in CHANGES:
        answer = await user.client.request(walk.method, walk.url(ids), headers=headers)
        assert (answer.status_code, str(walk)) == (403, str(walk))
    assert await _audit_entries(user) == before
    sections = {"/".join(shown(walk).split("/")[:2]) for walk in CHANGES}
    assert await _refusals(user, "cross_site") == sorted(sections), "each section is in the audit log, once"


@pytest.mark.parametrize("walk", [walk for walk in CHANGES if "{mode}" in walk.path], ids=str)
async def test_every_change_is_in_the_audit(mailing_studio: Middleware, tenant: factory.Tenant, walk: Walk) -> None:
    """Where there is a mail server, everything can be done."""
    ids = await all_ids(tenant)
    async with await sign_in(mailing_studio, tenant) as user:
        before = await _audit_entries(user)
        answer = await user.client.request(walk.method, walk.url(ids), data=form_of(walk))
        assert answer.status_code in (200, 303), (answer.status_code, answer.text[:2000])
        after = await _audit_entries(user)
    if str(walk) in named("UNAUDITED"):
        assert after == before
    else:
        assert after > before, "who, what, when and from where"


@pytest.mark.parametrize("mode", ["live", "sandbox"])
async def test_no_page_shows_what_people_typed_as_it_is(user: BrowserSession, mode: str) -> None:
    ids = await all_ids(user.tenant)
    for walk in PAGES:
        query = dict.fromkeys((*walk.queries, "q", "next", "cursor"), XSS)
        for params in ({}, query):
            answer = await user.client.get(walk.url(ids, mode), params=params)
            assert answer.status_code < 500, (str(walk), answer.text[:500])
            if answer.headers.get("content-type", "").startswith("text/html"):
                assert RAW not in answer.text, str(walk)


async def test_every_answer_has_the_policy(user: BrowserSession) -> None:
    for rest in ("home", "nothing", "/studio/static/studio.css"):
        answer = await user.client.get(user.url(rest))
        policy = answer.headers["content-security-policy"]
        assert "unsafe" not in policy
        assert policy.startswith("default-src 'none'")
        assert answer.headers["x-content-type-options"] == "nosniff"
        assert answer.headers["x-request-id"].startswith("req_")


def begin_window(studio: Middleware) -> None:
    """Refusals are recorded once a minute: let no minute end within the test."""
    studio.studio.refusals = EventLimit(of_one=1, most=2_000)


def shown(walk: Walk) -> str:
    """The route as the audit log has it."""
    return str(walk).replace("/studio", "").replace("/{mode}", "")


async def _audit_entries(user: BrowserSession) -> int:
    """The number of changes by this person, each with an IP address."""
    async with user.tenant.db.autocommit() as tx:
        return await tx.value(
            "SELECT count(*) FROM audit_log WHERE organization_id = $1 AND actor = $2 AND address IS NOT NULL"
            " AND action <> 'access_refused'",
            user.tenant.id,
            f"person {user.person.id}",
        )


async def _refusals(user: BrowserSession, reason: str) -> list[str]:
    """The routes that were refused to this person for this reason."""
    async with user.tenant.db.autocommit() as tx:
        rows = await tx.rows(
            "SELECT becomes FROM audit_log WHERE organization_id = $1 AND actor = $2 AND action = 'access_refused'"
            ' AND reason = $3 AND address IS NOT NULL ORDER BY becomes COLLATE "C"',
            user.tenant.id,
            f"person {user.person.id}",
            reason,
        )
    return [row["becomes"] for row in rows]
