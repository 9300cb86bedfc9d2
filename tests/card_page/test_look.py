"""What the organizer chose, as browsers get it: the colour, the logo, the name, the manifest, and the static files."""

import re

import httpx2
import pytest

from gatepass.card_page.templates import static_url
from gatepass.domain import card_look, cards
from gatepass.domain.cards import CardStatus
from tests import factory
from tests.card_page.links import path_of
from tests.pictures import png


async def chosen(tenant: factory.Tenant, *, shows_name: bool = True) -> None:
    async with tenant.db.transaction() as tx:
        await card_look.change(
            tx,
            tenant.id,
            shows_name=shows_name,
            colour="#ffcc33",
            line="Bring <b>ID</b>",
            by=factory.BY,
            at=factory.now(),
        )
        await card_look.set_logo(tx, tenant.id, png(120, 60), by=factory.BY, at=factory.now())


async def test_the_page_has_the_chosen_look(tenant: factory.Tenant, visitor: httpx2.AsyncClient) -> None:
    path = await path_of(tenant, await tenant.card())
    before = (await visitor.get(path + "/state")).json()
    await chosen(tenant)
    page, state = await visitor.get(path), (await visitor.get(path + "/state")).json()
    assert state["version"] != before["version"], "open pages hear of it"
    assert (state["look"]["colour"], state["look"]["ink"]) == ("#ffcc33", "#000000")
    assert "Bring &lt;b&gt;ID&lt;/b&gt;" in page.text
    assert (await visitor.get(path + "/look.css")).text == ":root{--brand:#ffcc33;--brand-ink:#000000}\n"
    logo = await visitor.get(state["look"]["logo"])
    assert (logo.status_code, logo.content, logo.headers["content-type"]) == (200, png(120, 60), "image/png")
    assert logo.headers["content-security-policy"] == "default-src 'none'; sandbox"
    assert state["look"]["logo"] in page.text
    manifest = (await visitor.get(path + "/manifest.webmanifest")).json()
    assert (manifest["start_url"], manifest["scope"], manifest["theme_color"]) == (path, path, "#ffcc33")


@pytest.mark.parametrize("shows_name", [True, False])
async def test_the_name_is_shown_if_the_organizer_wants(
    tenant: factory.Tenant, visitor: httpx2.AsyncClient, shows_name: bool
) -> None:
    async with tenant.db.transaction() as tx:
        card = await cards.issue(tx, tenant.id, by=factory.BY, at=factory.now(), holder_name="Ada Byron")
    await chosen(tenant, shows_name=shows_name)
    path = await path_of(tenant, card)
    assert ("Ada Byron" in (await visitor.get(path)).text) is shows_name
    assert ("Ada Byron" in (await visitor.get(path + "/state")).text) is shows_name


async def test_a_link_that_ended_gives_no_look(tenant: factory.Tenant, visitor: httpx2.AsyncClient) -> None:
    card = await tenant.card()
    await chosen(tenant)
    path = await path_of(tenant, card)
    logo = (await visitor.get(path + "/state")).json()["look"]["logo"]
    await tenant.move_card(card, CardStatus.REVOKED)
    for url in (logo, path + "/look.css", path + "/manifest.webmanifest"):
        assert (await visitor.get(url)).status_code == 410


async def test_the_page_names_only_files_that_are_there(tenant: factory.Tenant, visitor: httpx2.AsyncClient) -> None:
    page = (await visitor.get(await path_of(tenant, await tenant.card()))).text
    worker = (await visitor.get("/c/worker.js")).text
    kept = re.findall(r'"([\w/.-]+\.(?:js|css|svg|html))"', worker)
    named = set(re.findall(r'"(/c/static/[^"]+)"', page)) | {static_url(name) for name in kept}
    assert len(named) > 12
    for url in named:
        answer = await visitor.get(url)
        assert (answer.status_code, "immutable" in answer.headers["cache-control"]) == (200, True), url
    assert not re.search(r"<[^>]+\sstyle=|<style|<script(?! (?:type=\"module\" )?src=)|\son\w+=", page)


async def test_the_shell_has_nothing_of_a_card_and_the_policy_of_a_page(visitor: httpx2.AsyncClient) -> None:
    shell = await visitor.get(static_url("shell.html"))
    assert "script-src 'self'" in shell.headers["content-security-policy"]
    assert "unsafe" not in shell.headers["content-security-policy"]
    assert "manifest" not in shell.text
    stale = static_url("shell.html").replace("/static/", "/static/0")
    assert (await visitor.get(stale)).status_code == 404
