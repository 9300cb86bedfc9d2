"""`gatepass-cli webhooks`: endpoints, made and changed."""

from typing import Annotated

import typer

from gatepass_sdk.cli.arguments import Types, Yes, listed, require_yes
from gatepass_sdk.cli.desk import Desk, at_desk
from gatepass_sdk.cli.printing import note
from gatepass_sdk.cli.trouble import Trouble
from gatepass_sdk.models import WebhookEndpoint

webhooks = typer.Typer(
    help="Webhook endpoints: make, change, test and replay them.", no_args_is_help=True, rich_markup_mode=None
)
Id = Annotated[str, typer.Argument(metavar="ID", help="The endpoint's id.")]
Url = Annotated[str | None, typer.Option("--url", help="Where messages go.")]
Description = Annotated[str | None, typer.Option("--description", help="What it is for.")]


@webhooks.command("list")
@at_desk
def list_endpoints(desk: Desk) -> None:
    """Every endpoint in the mode of the key."""
    found = desk.client.webhook_endpoints.list()
    if desk.out.as_json:
        for one in found:
            desk.out.data(one.raw)
        return
    rows = [(one.id, one.status, one.url, one.types) for one in found]
    desk.out.table(("id", "status", "url", "types"), rows, "There are none. Make one: gatepass-cli webhooks create URL")


@webhooks.command("create")
@at_desk
def create(
    desk: Desk,
    *,
    url: Annotated[str, typer.Argument(help="Where messages go: https, and public.")],
    types: Types = None,
    description: Description = None,
) -> None:
    """Make an endpoint. Its secret is shown this once."""
    wanted = listed(types) or ["ticket.activated", "ticket.cancelled", "event.cancelled"]
    _show(desk, desk.client.webhook_endpoints.create(url=url, types=wanted, description=description))


@webhooks.command("show")
@at_desk
def show(desk: Desk, *, id: Id) -> None:
    """One endpoint."""
    _show(desk, desk.client.webhook_endpoints.retrieve(id))


@webhooks.command("update")
@at_desk
def update(desk: Desk, *, id: Id, url: Url = None, types: Types = None, description: Description = None) -> None:
    """Change what is given."""
    if url is None and types is None and description is None:
        raise Trouble("Say what to change: --url, --types or --description.")
    _show(desk, desk.client.webhook_endpoints.update(id, url=url, types=listed(types), description=description))


@webhooks.command("pause")
@at_desk
def pause(desk: Desk, *, id: Id) -> None:
    """Hold messages back. None is lost."""
    _show(desk, desk.client.webhook_endpoints.update(id, status="paused"))


@webhooks.command("resume")
@at_desk
def resume(desk: Desk, *, id: Id) -> None:
    """Let messages go again, those that were held too."""
    _show(desk, desk.client.webhook_endpoints.update(id, status="active"))


@webhooks.command("delete")
@at_desk
def delete(desk: Desk, *, id: Id, yes: Yes = False) -> None:
    """Delete an endpoint, and drop what it was to get."""
    endpoint = desk.client.webhook_endpoints.retrieve(id)
    require_yes(f"Delete {endpoint.url}, and drop what was still to be sent there?", yes=yes)
    desk.client.webhook_endpoints.delete(id)
    if desk.out.as_json:
        desk.out.data({"id": id, "deleted": True})
    else:
        desk.out.line(f"{endpoint.url} is deleted.")


@webhooks.command("test")
@at_desk
def test(desk: Desk, *, id: Id) -> None:
    """Send a webhook.ping there."""
    sent = desk.client.webhook_endpoints.test(id)
    if desk.out.as_json:
        desk.out.data(sent.raw)
    else:
        desk.out.line(f"A webhook.ping is on its way. See: gatepass-cli webhooks delivery {id} {sent.id}")


@webhooks.command("rotate")
@at_desk
def rotate(
    desk: Desk,
    *,
    id: Id,
    switch: Annotated[bool, typer.Option("--switch", help="Let the new secret sign from now on.")] = False,
) -> None:
    """Ask for a new secret; later --switch to it.

    It is shown this once, and signs beside the old one until the switch.
    """
    _show(desk, desk.client.webhook_endpoints.rotate_secret(id, switch=switch))


def _show(desk: Desk, one: WebhookEndpoint) -> None:
    if desk.out.as_json:
        desk.out.data(one.raw)
        return
    known: dict[str, object] = {"id": one.id, "mode": one.mode, "url": one.url, "types": one.types}
    known |= {"status": f"{one.status} ({one.paused_reason})" if one.paused_reason else one.status}
    known |= {"description": one.description} if one.description else {}
    known |= {"failing since": one.failing_since} if one.failing_since else {}
    if one.rotation is not None:
        known |= {"switches": one.rotation.switches_at, "old secret ends": one.rotation.retires_at}
    known |= {"secret": one.secret} if one.secret else {}
    desk.out.fields(known)
    if one.secret:
        note("Keep the secret: it is not shown again.")
