# Generated from _async/tickets.py by `make sdk-sync`. Change that file.
"""Tickets: issued one by one or in batches, read, cancelled, transferred."""

from collections.abc import Iterable, Iterator, Sequence
from datetime import datetime
from functools import partial
from typing import TYPE_CHECKING

from gatepass_sdk._arguments import format_time, new_key, segment, without_none
from gatepass_sdk._batches import cut
from gatepass_sdk._call import Call, data_as, list_as
from gatepass_sdk._decode import read
from gatepass_sdk._inputs import HolderDetails, NewTicket
from gatepass_sdk._sync.pages import Pages
from gatepass_sdk.models import Ticket, TicketResult

if TYPE_CHECKING:
    from gatepass_sdk._sync.exchange import Exchange


class Tickets:
    """The key needs the scope `tickets:read` to read, and `tickets:write` to issue and change."""

    def __init__(self, exchange: "Exchange") -> None:
        self._exchange = exchange

    def create(
        self,
        *,
        event_id: str,
        category_id: str,
        card_id: str | None = None,
        card_number: str | None = None,
        holder: HolderDetails | None = None,
        external_id: str | None = None,
        idempotency_key: str | None = None,
    ) -> Ticket:
        """Issue a ticket on a card, or for a person, whose card is found by the e-mail address or made.

        A second call with the same `external_id` and content gets the ticket that the first has made.
        """
        body = without_none(
            event_id=event_id,
            category_id=category_id,
            card_id=card_id,
            card_number=card_number,
            holder=holder,
            external_id=external_id,
        )
        return self._post("/tickets", body, idempotency_key)

    def batch(self, tickets: Sequence[NewTicket], *, idempotency_key: str | None = None) -> tuple[TicketResult, ...]:
        """Issue at most 1,000 tickets in one transaction: a result for each, in order. A refused one harms no other."""
        body, key = {"tickets": list(tickets)}, new_key(idempotency_key)
        call = Call("POST", "/tickets/batch", list_as(TicketResult), body=body, idempotency_key=key)
        return self._exchange.ask(call)

    def create_all(self, tickets: Iterable[NewTicket]) -> Iterator[tuple[NewTicket, TicketResult]]:
        """Issue any number of tickets, in batches of at most 1,000 and 1 MiB: each request with its result.

        With an `external_id` in each it can be interrupted and begun again: nothing is issued twice.
        """
        for some in cut(tickets):
            for ticket, result in zip(some, self.batch(some), strict=True):
                yield ticket, result

    def list(
        self,
        *,
        event_id: str | None = None,
        card_id: str | None = None,
        state: str | None = None,
        external_id: str | None = None,
        updated_after: datetime | None = None,
        limit: int | None = None,
        cursor: str | None = None,
    ) -> Pages[Ticket]:
        """Tickets that fit all that is given, newest first."""
        query = {"event_id": event_id, "card_id": card_id, "state": state, "external_id": external_id}
        query |= {"updated_after": format_time(updated_after), "cursor": cursor}
        query |= {"limit": None if limit is None else str(limit)}
        return Pages(self._exchange, "/tickets", partial(read, Ticket), query)

    def retrieve(self, ticket_id: str) -> Ticket:
        """One ticket as it is now."""
        return self._exchange.ask(Call("GET", _path(ticket_id), data_as(Ticket)))

    def cancel(self, ticket_id: str, *, reason: str, idempotency_key: str | None = None) -> Ticket:
        """Cancel a ticket, used or not. Its place is free again."""
        return self._post(_path(ticket_id, "cancel"), {"reason": reason}, idempotency_key)

    def transfer(
        self,
        ticket_id: str,
        *,
        card_id: str | None = None,
        holder: HolderDetails | None = None,
        idempotency_key: str | None = None,
    ) -> Ticket:
        """Move a ticket that was not used to another card or person."""
        body = without_none(card_id=card_id, holder=holder)
        return self._post(_path(ticket_id, "transfer"), body, idempotency_key)

    def _post(self, path: str, body: dict[str, object], key: str | None) -> Ticket:
        return self._exchange.ask(Call("POST", path, data_as(Ticket), body=body, idempotency_key=new_key(key)))


def _path(ticket_id: str, *more: str) -> str:
    return "/".join(["/tickets", segment(ticket_id), *more])
