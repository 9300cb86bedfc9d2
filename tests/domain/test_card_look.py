"""The look of the card page: what is chosen, what is refused, and ink that is read on every colour."""

from itertools import product

import pytest

from gatepass.base.errors import InvalidRequest
from gatepass.domain import audit_log, card_look
from gatepass.domain.card_look import BLACK, ENOUGH_CONTRAST, WHITE, contrast, ink_on
from tests import factory
from tests.pictures import png


def test_the_ink_is_read_on_every_colour() -> None:
    steps = range(0, 256, 15)
    colours = [f"#{red:02x}{green:02x}{blue:02x}" for red, green, blue in product(steps, steps, steps)]
    assert min(contrast(colour, ink_on(colour)) for colour in colours) >= ENOUGH_CONTRAST
    assert {ink_on(colour) for colour in colours} == {WHITE, BLACK}


@pytest.mark.parametrize(
    ("one", "other", "ratio"),
    [(BLACK, WHITE, 21.0), (WHITE, WHITE, 1.0), ("#767676", WHITE, 4.54), ("#ff0000", WHITE, 4.0)],
    ids=["black", "the same", "the lightest grey that white is read on", "red"],
)
def test_the_contrast_is_that_of_wcag(one: str, other: str, ratio: float) -> None:
    assert contrast(one, other) == pytest.approx(ratio, abs=0.005)
    assert contrast(other, one) == contrast(one, other)


async def test_what_was_chosen_is_found_also_for_a_sandbox_card(tenant: factory.Tenant) -> None:
    sandbox = await factory.sandbox_twin(tenant)
    async with tenant.db.transaction() as tx:
        assert not (await card_look.find(tx, tenant.id)).shows_name, "names are left out until somebody wants them"
        assert await card_look.change(
            tx, tenant.id, shows_name=True, colour="#FF8800", line="  Doors at 18:00 ", by=factory.BY, at=factory.now()
        )
        chosen = await card_look.find(tx, sandbox.id)
        noted = await audit_log.of_subject(tx, tenant.id, tenant.id)
    assert (chosen.shows_name, chosen.colour, chosen.ink, chosen.line) == (True, "#ff8800", BLACK, "Doors at 18:00")
    assert [entry.action for entry in noted] == ["card page changed"]


async def test_the_same_again_is_no_change(tenant: factory.Tenant) -> None:
    async with tenant.db.transaction() as tx:
        for changed in (True, False):
            assert changed is await card_look.change(
                tx, tenant.id, shows_name=True, colour="#ff8800", line=None, by=factory.BY, at=factory.now()
            )
        await card_look.set_logo(tx, tenant.id, None, by=factory.BY, at=factory.now())
        assert len(await audit_log.of_subject(tx, tenant.id, tenant.id)) == 1


@pytest.mark.parametrize("colour", ["red", "#fff", "#12345g", "#1234567", "#123456;}", "", "#12345\uff16", "url(#a)"])
async def test_what_is_no_colour_is_refused(tenant: factory.Tenant, colour: str) -> None:
    """It goes into a stylesheet: nothing but six digits may."""
    async with tenant.db.transaction() as tx:
        with pytest.raises(InvalidRequest) as refused:
            await card_look.change(
                tx, tenant.id, shows_name=False, colour=colour, line=None, by=factory.BY, at=factory.now()
            )
    assert refused.value.param == "colour"


@pytest.mark.parametrize("line", ["a\nb", "x" * 141, "a\x00b", "\u202egnp.exe", "a\x1b[31m"])
async def test_what_is_no_line_is_refused(tenant: factory.Tenant, line: str) -> None:
    async with tenant.db.transaction() as tx:
        with pytest.raises(InvalidRequest) as refused:
            await card_look.change(
                tx, tenant.id, shows_name=False, colour=BLACK, line=line, by=factory.BY, at=factory.now()
            )
    assert refused.value.param == "line"


async def test_another_logo_has_another_address_and_the_old_one_is_gone(tenant: factory.Tenant) -> None:
    async with tenant.db.transaction() as tx:
        await card_look.set_logo(tx, tenant.id, png(200, 50), by=factory.BY, at=factory.now())
        first = (await card_look.find(tx, tenant.id)).logo_id
        await card_look.set_logo(tx, tenant.id, png(200, 60), by=factory.BY, at=factory.now())
        second = (await card_look.find(tx, tenant.id)).logo_id
        assert first is not None
        assert second is not None
        assert await card_look.find_logo(tx, tenant.id, first) is None
        logo = await card_look.find_logo(tx, tenant.id, second)
    assert logo is not None
    assert (logo.kind, logo.content) == ("png", png(200, 60))


async def test_a_logo_of_another_organization_is_not_found(tenant: factory.Tenant) -> None:
    other = await factory.tenant(tenant.db)
    async with tenant.db.transaction() as tx:
        await card_look.set_logo(tx, tenant.id, png(200, 50), by=factory.BY, at=factory.now())
        logo_id = (await card_look.find(tx, tenant.id)).logo_id
        assert logo_id is not None
        assert await card_look.find_logo(tx, other.id, logo_id) is None


@pytest.mark.parametrize(
    ("content", "sentence"),
    [
        (b"<svg onload=alert(1)>", "not a PNG, JPEG or WebP"),
        (png(30, 30), "at least 40 each way"),
        (b"\x89PNG" + b"\x00" * (256 * 1024), "larger than 256 kB"),
    ],
    ids=["no picture", "small", "large"],
)
async def test_what_is_no_logo_is_refused(tenant: factory.Tenant, content: bytes, sentence: str) -> None:
    async with tenant.db.transaction() as tx:
        with pytest.raises(InvalidRequest, match=sentence) as refused:
            await card_look.set_logo(tx, tenant.id, content, by=factory.BY, at=factory.now())
    assert refused.value.param == "logo"
