"""`gatepass-cli events`: the commands that make and change events."""

from datetime import datetime
from decimal import Decimal, InvalidOperation
from typing import Annotated, Any

import typer

from gatepass_sdk.cli.arguments import Reason, Yes, moment, require_yes
from gatepass_sdk.cli.context import Context, with_context
from gatepass_sdk.cli.errors import CommandError
from gatepass_sdk.cli.events import Id, show

Time = Annotated[str, typer.Option(metavar="TIME", help="With its zone: 2026-06-15T18:00:00+02:00.")]
Zone = Annotated[str | None, typer.Option("--time-zone", metavar="NAME", help="Of the venue: Europe/Brussels.")]
Title = Annotated[str | None, typer.Option("--title", metavar="TEXT", help="What it is called.")]
Venue = Annotated[str | None, typer.Option("--venue", metavar="TEXT", help="Where it is.")]
City = Annotated[str | None, typer.Option("--city", metavar="TEXT", help="In which city.")]
Country = Annotated[str | None, typer.Option("--country", metavar="CODE", help="Two capital letters, such as BE.")]
Kept = Annotated[str, typer.Option("--reason", help="Why. It is kept.")]
Description = Annotated[str | None, typer.Option("--description", metavar="TEXT", help="What happens there.")]


def add_to(events: typer.Typer) -> None:
    for command in (create, update, publish, cancel, end, reopen, delete):
        events.command()(command)
    events.command("add-category")(add_category)


@with_context
def create(
    context: Context,
    *,
    title: Annotated[str, typer.Argument(help="What it is called.")],
    starts: Time,
    ends: Time,
    time_zone: Zone = None,
    venue: Venue = None,
    city: City = None,
    country: Country = None,
    description: Description = None,
) -> None:
    """Make an event. It begins as a draft: add categories, then publish it."""
    starts_at, ends_at = _time(starts, "--starts"), _time(ends, "--ends")
    made = context.client.events.create(
        title=title, starts_at=starts_at, ends_at=ends_at, time_zone=time_zone, venue=venue, city=city,
        country=country, description=description,
    )  # fmt: skip
    show(context, made)


@with_context
def update(
    context: Context,
    *,
    id: Id,
    title: Title = None,
    starts: Annotated[str | None, typer.Option(metavar="TIME", help="When it begins.")] = None,
    ends: Annotated[str | None, typer.Option(metavar="TIME", help="When it ends.")] = None,
    time_zone: Zone = None,
    venue: Venue = None,
    city: City = None,
    country: Country = None,
    description: Description = None,
) -> None:
    """Change what is given. An empty text clears a field."""
    given: dict[str, Any] = {"title": title, "starts_at": moment(starts, "--starts"), "ends_at": moment(ends, "--ends")}
    given |= {"time_zone": time_zone, "venue": venue, "city": city, "country": country, "description": description}
    changed: dict[str, Any] = {name: value or None for name, value in given.items() if value is not None}
    if not changed:
        raise CommandError("Say what to change: --title, --starts, --ends, --venue and so on.")
    before = context.client.events.retrieve(id)
    show(context, context.client.events.update(id, if_match=before.etag, **changed))


@with_context
def publish(context: Context, *, id: Id) -> None:
    """Show a draft, and open it for scans."""
    show(context, context.client.events.publish(id))


@with_context
def cancel(context: Context, *, id: Id, reason: Reason, yes: Yes = False) -> None:
    """Cancel an event and its tickets, for good."""
    event = context.client.events.retrieve(id)
    sold = sum(category.quantity_sold for category in event.ticket_categories)
    require_yes(f"Cancel {event.title} and its {sold:,} tickets, for good?", yes=yes)
    show(context, context.client.events.cancel(id, reason=reason))


@with_context
def end(context: Context, *, id: Id, yes: Yes = False) -> None:
    """End an event: its gates are closed, for good."""
    require_yes(f"End {context.client.events.retrieve(id).title}, for good?", yes=yes)
    show(context, context.client.events.end(id))


@with_context
def reopen(context: Context, *, id: Id, reason: Kept, yes: Yes = False) -> None:
    """Open an event again that ended by itself: its gates let guests in, for six hours at least."""
    require_yes(f"Open {context.client.events.retrieve(id).title} again?", yes=yes)
    show(context, context.client.events.reopen(id, reason=reason))


@with_context
def delete(context: Context, *, id: Id, yes: Yes = False) -> None:
    """Delete a draft for which nothing was issued."""
    event = context.client.events.retrieve(id)
    require_yes(f"Delete {event.title}?", yes=yes)
    context.client.events.delete(id, if_match=event.etag)
    if context.out.as_json:
        context.out.data({"id": id, "deleted": True})
    else:
        context.out.line(f"{event.title} is deleted.")


@with_context
def add_category(
    context: Context,
    *,
    id: Id,
    name: Annotated[str, typer.Argument(help="What it is called.")],
    price: Annotated[str, typer.Option(metavar="AMOUNT", help="In major units: 25.50.")],
    currency: Annotated[str, typer.Option(metavar="CODE", help="Such as EUR.")],
    places: Annotated[int, typer.Option(min=0, help="How many there are.")],
    tier: Annotated[str | None, typer.Option(help="A short word, such as vip; standard if nothing is said.")] = None,
) -> None:
    """Add a kind of ticket to an event."""
    made = context.client.ticket_categories.create(
        id, name=name, price=_amount(price), currency=currency, quantity_total=places, tier=tier
    )
    if context.out.as_json:
        context.out.data(made.raw)
    else:
        price = f"{made.price} {made.currency}"
        context.out.fields({"id": made.id, "name": made.name, "tier": made.tier, "price": price, "places": places})


def _time(text: str, option: str) -> datetime:
    found = moment(text, option)
    assert found is not None  # noqa: S101  it is required
    return found


def _amount(text: str) -> Decimal:
    try:
        return Decimal(text)
    except InvalidOperation:
        raise CommandError("--price is an amount, such as 25.50.") from None
