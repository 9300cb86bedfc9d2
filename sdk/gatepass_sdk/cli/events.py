"""`gatepass-cli events`: events, listed and shown. `platform/events.py` has the commands that change them."""

from typing import Annotated

import typer

from gatepass_sdk.cli.context import Context, with_context
from gatepass_sdk.models import Event

events = typer.Typer(rich_markup_mode=None)
Id = Annotated[str, typer.Argument(metavar="ID", help="The event's id.")]
Status = Annotated[str | None, typer.Option("--status", help="draft, published, cancelled or ended.")]


@events.callback(invoke_without_command=True)
@with_context
def every_event(context: Context, *, typer_context: typer.Context) -> None:
    """List events, or show one. Without a command it lists them."""
    if context.is_without_command(typer_context):
        _list(context)


@events.command("list")
@with_context
def list_events(context: Context, *, status: Status = None) -> None:
    """Published events, by their start, or those with another status."""
    _list(context, status)


def _list(context: Context, status: str | None = None) -> None:
    found = context.client.events.list(status=status)
    if context.out.as_json:
        for event in found:
            context.out.data(event.raw)
        return
    rows = [(event.id, event.starts_at, event.status, event.title, event.city) for event in found]
    context.out.table(("id", "starts", "status", "title", "city"), rows, f"No event is {status or 'published'}.")


@events.command("show")
@with_context
def show_event(context: Context, *, id: Id) -> None:
    """One event, whatever its status."""
    show(context, context.client.events.retrieve(id))


def show(context: Context, event: Event) -> None:
    if context.out.as_json:
        context.out.data(event.raw)
        return
    place = ", ".join(part for part in (event.venue, event.city, event.country) if part)
    context.out.fields(
        {"id": event.id, "title": event.title, "status": event.status, "place": place}
        | {"starts": event.starts_at, "ends": event.ends_at}
        | _categories(event)
    )


def _categories(event: Event) -> dict[str, object]:
    return {
        one.name: f"{one.price} {one.currency}, {one.quantity_sold} of {one.quantity_total} sold ({one.id})"
        for one in event.ticket_categories
    }
