"""`gatepass-cli events`: what is on."""

from typing import Annotated

import typer

from gatepass_sdk.cli.desk import Desk, at_desk
from gatepass_sdk.models import Event

events = typer.Typer(rich_markup_mode=None)


@events.callback(invoke_without_command=True)
@at_desk
def every_event(desk: Desk, *, context: typer.Context) -> None:
    """List events, or show one. Without a command it lists them."""
    if desk.is_alone(context):
        _list(desk)


@events.command("list")
@at_desk
def list_events(desk: Desk) -> None:
    """Published events, by their start."""
    _list(desk)


def _list(desk: Desk) -> None:
    found = desk.client.events.list()
    if desk.out.as_json:
        for event in found:
            desk.out.data(event.raw)
        return
    rows = [(event.id, event.starts_at, event.status, event.title, event.city) for event in found]
    desk.out.table(("id", "starts", "status", "title", "city"), rows, "No event is published.")


@events.command("show")
@at_desk
def show_event(desk: Desk, *, id: Annotated[str, typer.Argument(help="The event's id.")]) -> None:
    """One event, whatever its status."""
    event = desk.client.events.retrieve(id)
    if desk.out.as_json:
        desk.out.data(event.raw)
        return
    place = ", ".join(part for part in (event.venue, event.city, event.country) if part)
    desk.out.fields(
        {"id": event.id, "title": event.title, "status": event.status, "place": place}
        | {"starts": event.starts_at, "ends": event.ends_at}
        | _categories(event)
    )


def _categories(event: Event) -> dict[str, object]:
    return {
        one.name: f"{one.price} {one.currency}, {one.quantity_sold} of {one.quantity_total} sold"
        for one in event.ticket_categories
    }
