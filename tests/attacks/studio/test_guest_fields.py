"""Every page, part, download and stream of the studio as every role.

Names, addresses and whole numbers of guests are shown where `SEES` has them, and nowhere else. The routes are read from
the application, so that a new page is walked too.
"""

from collections.abc import Iterator
from itertools import product
from typing import Final

import pytest

from gatepass.base.database import Database
from gatepass.domain.staff import MAY, SEES, Role
from gatepass.domain.visibility import GuestField
from tests import factory
from tests.attacks.guests import USED, asked, given_away, invite
from tests.attacks.studio_client import StudioClient, member, visiting
from tests.processes import GatepassProcess
from tests.studio.routes import Walk, all_ids, named, walks

OPENED: Final = [walk for walk in walks() if walk.method == "GET" and walk.guarded]
# What else there is cannot be read for a name: it is for roles that see every field. Logos and covers are no guests'.
READABLE: Final = ("text/", "application/json", "image/svg+xml", "image/png", "image/jpeg")


@pytest.fixture(scope="module")
async def filled(db: Database, server: GatepassProcess) -> tuple[factory.Tenant, dict[str, list[str]]]:
    tenant = await factory.tenant(db)
    guests = await invite(tenant, server)
    samples = await all_ids(tenant)
    return tenant, {name: [id] for name, id in samples.items()} | guests


def urls(walk: Walk, ids: dict[str, list[str]]) -> Iterator[str]:
    """The address of this route for each of the guests' things that it names."""
    names = [name for name in ids if f"{{{name}}}" in walk.path or name == "organization"]
    for chosen in product(*(ids[name] for name in names)):
        yield walk.url(dict(zip(names, chosen, strict=True)))


async def shown(client: StudioClient, walk: Walk, url: str, query: dict[str, str]) -> str:
    """The text of an answer; of a stream its first message."""
    if str(walk) in named("STREAMS"):
        return await client.first_message(url)
    answer = await client.get(url, params=query)
    assert answer.status_code < 500, (str(walk), query)
    kind = answer.headers.get("content-type", "text/plain")
    return answer.text + answer.headers.get("location", "") if kind.startswith(READABLE) else f"unreadable {kind}"


@pytest.mark.parametrize("role", Role)
async def test_a_role_sees_of_guests_what_the_table_says(
    server: GatepassProcess,
    filled: tuple[factory.Tenant, dict[str, list[str]]],
    role: Role,
    capsys: pytest.CaptureFixture[str],
) -> None:
    tenant, ids = filled
    _, token = await member(tenant, role)
    seen, leaks, answers = set[GuestField](), list[str](), 0
    pages = [walk for walk in OPENED if walk.permission is None or walk.permission in MAY[role]]
    async with visiting(server, token) as client:
        for walk in pages:
            for url in urls(walk, ids):
                for query in questions(walk):
                    text = await shown(client, walk, url, query)
                    found = given_away(text, " ".join(query.values()))
                    if text.startswith("unreadable") and not SEES[role].fields >= set(GuestField):
                        leaks.append(f"{walk} {query}: {text}")
                    leaks += [f"{walk} {url} {query}: {field}" for field in found - SEES[role].fields]
                    seen |= found
                    answers += 1
    with capsys.disabled():
        print(f"\n{role}: {len(pages)} pages, {answers} answers")
    assert leaks == []
    assert seen == SEES[role].fields, "the walk finds what may be seen, so it would find the rest"


def questions(walk: Walk) -> list[dict[str, str]]:
    """No question, and where something can be asked for, each that leads to a guest."""
    return [{}, *({"q": text} for text in asked() if "q" in walk.queries)]


@pytest.mark.parametrize("role", [Role.VIEWER, Role.DEVELOPER])
@pytest.mark.parametrize("page", ["find", "cards", "events/{event}/tickets"])
async def test_hidden_digits_find_nothing(
    server: GatepassProcess, filled: tuple[factory.Tenant, dict[str, list[str]]], role: Role, page: str
) -> None:
    """Else a number that is shown by its last four digits could be tried out, group by group."""
    tenant, ids = filled
    _, token = await member(tenant, role)
    first, middle, last = USED.number.split()[1:]
    async with visiting(server, token) as client:

        async def hits(text: str) -> bool:
            url = f"/studio/o/{tenant.id}/live/{page.format(event=tenant.event_id)}"
            answer = await client.get(url, params={"q": text})
            return any(id in answer.text + answer.headers.get("location", "") for id in ids["card_id"])

        for text in (first, middle, first + middle, middle + last, f"{first} {middle}"):
            assert not await hits(text), text
        assert await hits(last)
        assert await hits(USED.number)
