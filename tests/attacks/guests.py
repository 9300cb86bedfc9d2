"""Guests whose names, addresses and numbers are in all that an organization keeps, and the search for them in text."""

import re
from dataclasses import dataclass
from typing import Final
from uuid import UUID

from gatepass.domain import cards, incidents, tickets
from gatepass.domain.cards import HolderDetails, NewCard, format_number
from gatepass.domain.tickets import TicketRequest
from gatepass.domain.visibility import GuestField
from gatepass.domain.webhooks import SUBSCRIBABLE
from tests import factory
from tests.processes import GatepassProcess


@dataclass(frozen=True)
class Guest:
    """`name` and `email` are in no sample of another test. The first group of the numbers is the same."""

    name: str
    email: str
    external_id: str
    number: str

    @property
    def signs(self) -> dict[GuestField, re.Pattern[str]]:
        """What gives each field away. Of a number that is its middle, however it is spelled."""
        word, host = self.name.split()[-1], self.email.partition("@")[2]
        first, middle = self.number.split()[1:3]
        return {
            GuestField.NAME: re.compile(word, re.IGNORECASE),
            GuestField.EMAIL: re.compile(re.escape(host), re.IGNORECASE),
            GuestField.NUMBER: re.compile(rf"{first}\D{{0,12}}{middle}"),
        }


USED: Final = Guest(
    "Ottoline Quillfeather", "ottoline@wexcombe.example", "wristband-1", format_number("SVC", 40842917351)
)
UNUSED: Final = Guest(
    "Thaddeus Marrowbane", "thaddeus@pellgrave.example", "wristband-2", format_number("SVC", 40846620918)
)
REPLACED: Final = Guest("Isolde Cranmere", "isolde@hartsedge.example", "wristband-3", format_number("SVC", 40843158264))
GUESTS: Final = (USED, UNUSED, REPLACED)


async def invite(tenant: factory.Tenant, server: GatepassProcess) -> dict[str, list[str]]:
    """One let in at a gate, told to a webhook, and let in again by hand; one to come; one with another card now.

    The ids that a path may have in the place of a parameter.
    """
    endpoint_id, _ = await tenant.endpoint("https://example.com/guests", *SUBSCRIBABLE)
    ids: dict[str, UUID] = {}
    async with tenant.db.transaction() as tx:
        for guest in GUESTS:
            (card_id,) = await cards.issue_all(
                tx, tenant.id, [NewCard(number=guest.number)], by=factory.BY, at=factory.now()
            )
            await cards.correct_holder(
                tx, tenant.id, card_id, HolderDetails(guest.name, guest.email), by=factory.BY, at=factory.now()
            )
            request = TicketRequest(
                tenant.event_id, tenant.category_id, card_number=guest.number, external_id=guest.external_id
            )
            await tickets.issue(tx, tenant.id, request, by=factory.BY, at=factory.now())
            ids[guest.name] = card_id
        new = await tickets.replace(
            tx, tenant.id, ids[REPLACED.name], by=factory.BY, at=factory.now(), reason=f"Lost {REPLACED.number}"
        )
    async with server.client((await tenant.key()).text) as gate:
        for guest in (USED, USED):
            await gate.post("/scan", json={"event_id": str(tenant.event_id), "card_number": guest.number})
    async with tenant.db.transaction() as tx:
        await incidents.let_in(
            tx, tenant.id, ids[USED.name], tenant.event_id, reason="Knows us", by=factory.BY, at=factory.now()
        )
    async with tenant.db.autocommit() as tx:
        told = await tx.rows(
            "SELECT id FROM webhook_delivery WHERE organization_id = $1 AND endpoint_id = $2", tenant.id, endpoint_id
        )
    return {
        "card_id": [str(id) for id in (*ids.values(), new.id)],
        "endpoint_id": [str(endpoint_id)],
        "delivery_id": [str(row["id"]) for row in told],
    }


def asked() -> list[str]:
    """What somebody types who looks for a guest: digits, whole numbers, names, addresses, external ids."""
    of_numbers = {group for guest in GUESTS for group in guest.number.split()[1:]}
    words = {word for guest in GUESTS for word in (guest.number, guest.name, guest.email, guest.external_id)}
    return sorted(of_numbers | words | {"wristband"})


def given_away(text: str, asked_for: str = "") -> set[GuestField]:
    """The fields of guests in a text, without those of a guest that were asked for in the same words."""
    return {
        field
        for guest in GUESTS
        for field, sign in guest.signs.items()
        if sign.search(text) and not sign.search(asked_for)
    }
