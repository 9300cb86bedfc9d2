"""`gatepass-cli tickets`: issued, found, cancelled, transferred."""

from typing import Annotated

import typer

from gatepass_sdk.cli.arguments import DEFAULT_LIMIT, LARGEST_PAGE, ExternalId, Most, Reason, first_of, moment
from gatepass_sdk.cli.context import Context, with_context
from gatepass_sdk.cli.errors import CommandError
from gatepass_sdk.cli.platform.holders import Email, Locale, Name, holder_of
from gatepass_sdk.models import Event, Ticket

tickets = typer.Typer(
    help="Tickets: issue, find, cancel and transfer them.", no_args_is_help=True, rich_markup_mode=None
)
Id = Annotated[str, typer.Argument(metavar="ID", help="The ticket's id.")]
CardId = Annotated[str | None, typer.Option("--card", metavar="ID", help="The card's id.")]


@tickets.command("list")
@with_context
def list_tickets(
    context: Context,
    *,
    event: Annotated[str | None, typer.Option("--event", "-e", metavar="ID", help="For this event.")] = None,
    card: CardId = None,
    state: Annotated[str | None, typer.Option("--state", help="issued, activated or cancelled.")] = None,
    external_id: ExternalId = None,
    since: Annotated[
        str | None, typer.Option("--since", metavar="TIME", help="Changed since then: a time, or 2h for ago.")
    ] = None,
    most: Most = DEFAULT_LIMIT,
) -> None:
    """Tickets that fit all that is given, newest first."""
    pages = context.client.tickets.list(
        event_id=event, card_id=card, state=state, external_id=external_id,
        updated_after=moment(since, "--since"), limit=min(most, LARGEST_PAGE),
    )  # fmt: skip
    found = first_of(pages, most)
    if context.out.as_json:
        for one in found:
            context.out.data(one.raw)
        return
    rows = [(one.id, one.state, one.category_name, one.card_number, one.external_id, one.updated_at) for one in found]
    heads = ("id", "state", "category", "card", "external id", "updated")
    context.out.table(heads, rows, "There is no such ticket.")


@tickets.command("show")
@with_context
def show_ticket(context: Context, *, id: Id) -> None:
    """One ticket, and what became of it."""
    _show(context, context.client.tickets.retrieve(id))


@tickets.command("issue")
@with_context
def issue(
    context: Context,
    *,
    event: Annotated[str, typer.Option("--event", "-e", metavar="ID", help="The event.")],
    category: Annotated[str, typer.Option("--category", "-c", metavar="NAME", help="Its name, or its id.")],
    card: CardId = None,
    number: Annotated[str | None, typer.Option("--number", help="The card's number.")] = None,
    name: Name = None,
    email: Email = None,
    locale: Locale = None,
    external_id: ExternalId = None,
) -> None:
    """Issue a ticket on a card, or for a person.

    Their card is found by the address, or made. The same --external-id again issues no second ticket.
    """
    holder = holder_of(name, email, locale)
    if sum(one is not None for one in (card, number, holder)) != 1:
        raise CommandError("Say who gets it: --card, --number, or --name and --email.")
    category_id = category_of(context.client.events.retrieve(event), category)
    if category_id is None:
        raise CommandError(f"The event has no category {category!r}: see gatepass-cli events show {event}")
    made = context.client.tickets.create(
        event_id=event, category_id=category_id, card_id=card, card_number=number, holder=holder,
        external_id=external_id,
    )  # fmt: skip
    _show(context, made)


@tickets.command("cancel")
@with_context
def cancel(context: Context, *, id: Id, reason: Reason) -> None:
    """Cancel a ticket, used or not. Its place is free again."""
    _show(context, context.client.tickets.cancel(id, reason=reason))


@tickets.command("transfer")
@with_context
def transfer(
    context: Context, *, id: Id, card: CardId = None, name: Name = None, email: Email = None, locale: Locale = None
) -> None:
    """Move a ticket that was not used to another card or person."""
    holder = holder_of(name, email, locale)
    if (card is None) == (holder is None):
        raise CommandError("Say who gets it: --card, or --name and --email.")
    _show(context, context.client.tickets.transfer(id, card_id=card, holder=holder))


def category_of(event: Event, wanted: str) -> str | None:
    """The id of the category with this name, in any case, or with this id."""
    names = {category.name.casefold(): category.id for category in event.ticket_categories}
    ids = {category.id for category in event.ticket_categories}
    return wanted if wanted in ids else names.get(wanted.strip().casefold())


def _show(context: Context, ticket: Ticket) -> None:
    if context.out.as_json:
        context.out.data(ticket.raw)
        return
    known: dict[str, object] = {"id": ticket.id, "state": ticket.state, "event": ticket.event_id}
    known |= {"category": f"{ticket.category_name} ({ticket.tier})", "card": f"{ticket.card_number} ({ticket.card_id})"}
    known |= {"external id": ticket.external_id} if ticket.external_id else {}
    known |= {"issued": ticket.issued_at}
    if ticket.activated_at is not None:
        known |= {"activated": ticket.activated_at, "gate": ticket.gate, "scanner": ticket.scanner_id}
    if ticket.cancelled_at is not None:
        known |= {"cancelled": ticket.cancelled_at, "because": ticket.cancel_reason}
    context.out.fields(known)
