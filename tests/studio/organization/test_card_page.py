"""The look of the card page in the studio: chosen, previewed, refused."""

import pytest

from gatepass.domain import card_look
from gatepass.domain.staff import Role
from gatepass.studio.middleware import Middleware
from tests.factory import Tenant
from tests.pictures import png
from tests.studio.browser_session import BrowserSession, sign_in

HERE = "settings/card-page"


async def test_a_look_is_chosen_and_previewed(user: BrowserSession) -> None:
    assert f'href="{user.root()}{HERE}"' in await user.see("settings")
    page = await user.follow(await user.send(HERE, colour="#ffdd00", line="Bring your ID", shows_name="true"))
    for shown in ('fill="#ffdd00"', 'fill="#000000"', "Bring your ID", 'value="#ffdd00"', "checked"):
        assert shown in page
    async with user.tenant.db.autocommit() as tx:
        assert (await card_look.find(tx, user.tenant.id)).line == "Bring your ID"
    page = await user.follow(await user.send(HERE, colour="#ffdd00"))
    assert "checked" not in page.partition("<main")[2]


async def test_a_logo_is_uploaded_shown_and_taken_away(user: BrowserSession) -> None:
    picture = png(200, 80)
    await user.send(f"{HERE}/logo", files={"logo": ("evil.html", picture, "text/html")})
    async with user.tenant.db.autocommit() as tx:
        look = await card_look.find(tx, user.tenant.id)
    assert f"{user.root()}{HERE}/logo/{look.logo_id}" in await user.see(HERE)
    answer = await user.client.get(f"{user.root()}{HERE}/logo/{look.logo_id}")
    assert (answer.status_code, answer.content, answer.headers["content-type"]) == (200, picture, "image/png")
    assert answer.headers["content-security-policy"] == "default-src 'none'; sandbox"
    await user.send(f"{HERE}/logo")
    assert "<image" not in await user.see(HERE)


@pytest.mark.parametrize(
    ("field", "form"),
    [("colour", {"colour": "red"}), ("colour", {}), ("line", {"colour": "#000000", "line": "x" * 141})],
    ids=["a word", "no colour", "a long line"],
)
async def test_a_refusal_is_said_beside_its_field(user: BrowserSession, field: str, form: dict[str, str]) -> None:
    assert f'id="e-{field}"' in (await user.send(HERE, status=422, **form)).text


@pytest.mark.parametrize("size", [300 * 1024, 4 * 1024 * 1024], ids=["a little too large", "much too large"])
async def test_a_logo_that_is_too_large_is_refused(user: BrowserSession, size: int) -> None:
    answer = await user.send(
        f"{HERE}/logo", status=422, files={"logo": ("a.png", b"\x89PNG" + b"\0" * size, "image/png")}
    )
    assert "larger than 256 kB" in answer.text


async def test_who_only_reads_the_settings_changes_nothing(studio: Middleware, tenant: Tenant) -> None:
    async with await sign_in(studio, tenant, Role.DEVELOPER) as developer:
        assert "Upload" not in await developer.see(HERE)
        await developer.send(HERE, status=403, colour="#000000")
        await developer.send(f"{HERE}/logo", status=403)
