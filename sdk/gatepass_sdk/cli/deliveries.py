"""`gatepass-cli webhooks deliveries`, `delivery` and `replay`: deliveries, their attempts, and sending them again."""

import time
from typing import Annotated, Any, Final

import typer

from gatepass_sdk.cli.arguments import (
    DEFAULT_LIMIT,
    LARGEST_PAGE,
    Most,
    Types,
    Yes,
    first_of,
    listed,
    moment,
    require_yes,
)
from gatepass_sdk.cli.context import Context, with_context
from gatepass_sdk.cli.endpoints import Id
from gatepass_sdk.cli.errors import CommandError
from gatepass_sdk.cli.progress import bar
from gatepass_sdk.models import Replay

# A replay queues some hundred messages per second.
POLL_SECONDS: Final = 0.5

Status = Annotated[str | None, typer.Option("--status", help="pending, delivered, held or failed.")]


@with_context
def deliveries(
    context: Context,
    *,
    id: Id,
    status: Status = None,
    type: Annotated[str | None, typer.Option("--type", help="Only this type of message.")] = None,
    most: Most = DEFAULT_LIMIT,
) -> None:
    """What was sent there, newest first."""
    size = min(most, LARGEST_PAGE)
    found = first_of(context.client.webhook_endpoints.deliveries(id, status=status, type=type, limit=size), most)
    if context.out.as_json:
        for one in found:
            context.out.data(one.raw)
        return
    rows = [
        (one.id, one.created_at, one.type, one.status, one.attempts, one.last_error or one.last_status) for one in found
    ]
    context.out.table(("id", "created", "type", "status", "tries", "last"), rows, "Nothing was sent there.")


@with_context
def delivery(
    context: Context, *, id: Id, delivery_id: Annotated[str, typer.Argument(metavar="DELIVERY", help="Its id.")]
) -> None:
    """One delivery, with every attempt at it and the message."""
    one = context.client.webhook_endpoints.delivery(id, delivery_id)
    if context.out.as_json:
        context.out.data(one.raw)
        return
    context.out.fields(
        {"id": one.id, "message": one.event_id, "type": one.type, "status": one.status}
        | {"next attempt": one.next_attempt_at, "body": one.body}
    )
    rows = [(made.n, made.at, made.error or made.status, f"{made.total_ms:.0f} ms") for made in one.attempts_made]
    context.out.table(("try", "at", "answer", "took"), rows, "It was not tried yet.")


@with_context
def replay(
    context: Context,
    *,
    id: Id,
    since: Annotated[str | None, typer.Option("--since", metavar="TIME", help="A time, or 2h for ago.")] = None,
    until: Annotated[str | None, typer.Option("--until", metavar="TIME", help="A time, or 2h for ago.")] = None,
    types: Types = None,
    statuses: Annotated[list[str] | None, typer.Option("--statuses", help="delivered, failed, or both.")] = None,
    delivery_id: Annotated[str | None, typer.Option("--delivery", metavar="ID", help="This one alone.")] = None,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Only count.")] = False,
    yes: Yes = False,
) -> None:
    """Send again what was sent.

    It is counted first, and begins when you say yes. Without --since it is the last 24 hours.
    """
    which: dict[str, Any] = {"since": moment(since, "--since"), "until": moment(until, "--until")}
    which |= {"types": listed(types), "statuses": listed(statuses)}
    if delivery_id is not None:
        if any(which.values()) or dry_run:
            raise CommandError("--delivery is one delivery: give no filter with it.")
        _follow(context, id, context.client.webhook_endpoints.replay(id, delivery_id=delivery_id))
        return
    count = context.client.webhook_endpoints.count_replay(id, **which)
    if dry_run or count == 0:
        _print_count(context, count)
        return
    require_yes(f"Send {count:,} messages again?", yes=yes)
    _follow(context, id, context.client.webhook_endpoints.replay(id, **which))


def _print_count(context: Context, count: int) -> None:
    if context.out.as_json:
        context.out.data({"total": count})
    else:
        context.out.line(f"{count:,} messages would be sent again.")


def _follow(context: Context, endpoint_id: str, replay: Replay) -> None:
    """Wait until all messages are queued. Ctrl-C ends the waiting, not the replay."""
    with bar("Replaying", replay.total) as advance:
        while replay.ended_at is None:
            time.sleep(POLL_SECONDS)
            replays = context.client.webhook_endpoints.replays(endpoint_id)
            replay = next((one for one in replays if one.id == replay.id), replay)
            advance(replay.done)
    if context.out.as_json:
        context.out.data(replay.raw)
    else:
        context.out.line(f"{replay.done:,} of {replay.total:,} messages are in line to be sent again.")
