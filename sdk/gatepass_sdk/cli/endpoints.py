"""`gatepass-cli webhooks`: endpoints, created and changed."""

from typing import Annotated

import typer

from gatepass_sdk.cli.arguments import Types, Yes, listed, require_yes
from gatepass_sdk.cli.context import Context, with_context
from gatepass_sdk.cli.errors import CommandError
from gatepass_sdk.cli.output import note
from gatepass_sdk.models import WebhookEndpoint

webhooks = typer.Typer(
    help="Webhook endpoints: make, change, test and replay them.", no_args_is_help=True, rich_markup_mode=None
)
Id = Annotated[str, typer.Argument(metavar="ID", help="The endpoint's id.")]
Url = Annotated[str | None, typer.Option("--url", help="Where messages go.")]
Description = Annotated[str | None, typer.Option("--description", help="What it is for.")]


@webhooks.command("list")
@with_context
def list_endpoints(context: Context) -> None:
    """Every endpoint in the mode of the key."""
    found = context.client.webhook_endpoints.list()
    if context.out.as_json:
        for one in found:
            context.out.data(one.raw)
        return
    rows = [(one.id, one.status, one.url, one.types) for one in found]
    context.out.table(
        ("id", "status", "url", "types"), rows, "There are none. Make one: gatepass-cli webhooks create URL"
    )


@webhooks.command("create")
@with_context
def create(
    context: Context,
    *,
    url: Annotated[str, typer.Argument(help="Where messages go: https, and public.")],
    types: Types = None,
    description: Description = None,
) -> None:
    """Make an endpoint. Its secret is shown this once."""
    wanted = listed(types) or ["ticket.activated", "ticket.cancelled", "event.cancelled"]
    _show(context, context.client.webhook_endpoints.create(url=url, types=wanted, description=description))


@webhooks.command("show")
@with_context
def show(context: Context, *, id: Id) -> None:
    """One endpoint."""
    _show(context, context.client.webhook_endpoints.retrieve(id))


@webhooks.command("update")
@with_context
def update(context: Context, *, id: Id, url: Url = None, types: Types = None, description: Description = None) -> None:
    """Change what is given."""
    if url is None and types is None and description is None:
        raise CommandError("Say what to change: --url, --types or --description.")
    _show(context, context.client.webhook_endpoints.update(id, url=url, types=listed(types), description=description))


@webhooks.command("pause")
@with_context
def pause(context: Context, *, id: Id) -> None:
    """Hold messages back. None is lost."""
    _show(context, context.client.webhook_endpoints.update(id, status="paused"))


@webhooks.command("resume")
@with_context
def resume(context: Context, *, id: Id) -> None:
    """Let messages go again, those that were held too."""
    _show(context, context.client.webhook_endpoints.update(id, status="active"))


@webhooks.command("delete")
@with_context
def delete(context: Context, *, id: Id, yes: Yes = False) -> None:
    """Delete an endpoint, and drop what it was to get."""
    endpoint = context.client.webhook_endpoints.retrieve(id)
    require_yes(f"Delete {endpoint.url}, and drop what was still to be sent there?", yes=yes)
    context.client.webhook_endpoints.delete(id)
    if context.out.as_json:
        context.out.data({"id": id, "deleted": True})
    else:
        context.out.line(f"{endpoint.url} is deleted.")


@webhooks.command("test")
@with_context
def test(context: Context, *, id: Id) -> None:
    """Send a webhook.ping there."""
    sent = context.client.webhook_endpoints.test(id)
    if context.out.as_json:
        context.out.data(sent.raw)
    else:
        context.out.line(f"A webhook.ping is on its way. See: gatepass-cli webhooks delivery {id} {sent.id}")


@webhooks.command("rotate")
@with_context
def rotate(
    context: Context,
    *,
    id: Id,
    switch: Annotated[bool, typer.Option("--switch", help="Let the new secret sign from now on.")] = False,
) -> None:
    """Ask for a new secret; later --switch to it.

    It is shown this once, and signs beside the old one until the switch.
    """
    _show(context, context.client.webhook_endpoints.rotate_secret(id, switch=switch))


def _show(context: Context, one: WebhookEndpoint) -> None:
    if context.out.as_json:
        context.out.data(one.raw)
        return
    known: dict[str, object] = {"id": one.id, "mode": one.mode, "url": one.url, "types": one.types}
    known |= {"status": f"{one.status} ({one.paused_reason})" if one.paused_reason else one.status}
    known |= {"description": one.description} if one.description else {}
    known |= {"failing since": one.failing_since} if one.failing_since else {}
    if one.rotation is not None:
        known |= {"switches": one.rotation.switches_at, "old secret ends": one.rotation.retires_at}
    known |= {"secret": one.secret} if one.secret else {}
    context.out.fields(known)
    if one.secret:
        note("Keep the secret: it is not shown again.")
