"""Scanning with a network: admitted, refused, echo, another gate; by a reader and by hand."""

import pytest

from gatepass.domain.cards import CardStatus
from tests.browser.scanner.phone import Phone, service_scan

pytestmark = pytest.mark.browser


async def test_a_guest_is_admitted_once_and_the_second_time_it_says_who_was_first(phone: Phone) -> None:
    card = await phone.tenant.card()
    await phone.show(card)
    await phone.says("ENTER", "green", "General", "standard")
    await phone.is_ready()
    other = await phone.tenant.card()
    await phone.show(other)
    await phone.says("ENTER", "green")
    await phone.show(card)
    await phone.says("USED", "red", "First: North", "by Red phone")
    assert phone.visited.complaints == []
