"""`gatepass key list` lists the API keys of an organization; `gatepass key rate` gives one its own rate."""

import asyncio
import json
from datetime import datetime
from typing import Annotated
from uuid import UUID

import typer

from gatepass.base.clock import rfc3339, system_clock
from gatepass.base.ids import strict_uuid
from gatepass.base.paging import Place
from gatepass.base.settings import Settings
from gatepass.cli import database
from gatepass.cli.app import App
from gatepass.cli.errors import WRONG_USAGE, CommandError
from gatepass.cli.operator import BY, PAGE, log_events, the_organization
from gatepass.cli.output import print_whole
from gatepass.cli.settings import read_operator_settings
from gatepass.domain import keys
from gatepass.domain.keys import Key, KeyNotFound, Mode
from gatepass.domain.keys.rates import MOST_BURST, MOST_PER_SECOND

key = App("key", help="API keys and their rates.")


@key.callback()
def api_keys() -> None:
    """API keys and their rates."""


@key.command("list")
def list_keys(
    name: Annotated[str, typer.Argument(metavar="ORGANIZATION", help="Its name, or its id.")],
    *,
    as_json: Annotated[bool, typer.Option("--json", help="Print a JSON object for each.")] = False,
) -> None:
    """List the API keys of an organization, newest first: id, the part that may be shown, status, rate and name."""
    asyncio.run(_list(read_operator_settings(), name.strip(), as_json=as_json))


async def _list(settings: Settings, name: str, *, as_json: bool) -> None:
    at = system_clock()
    async with database.database(settings) as db, db.autocommit() as tx:
        organization = await the_organization(tx, name)
        for mode in Mode:
            place: Place | None = None
            while True:
                found, place = await keys.keys_of(tx, organization.id, mode, at=at, after=place, limit=PAGE)
                for one in found:
                    print_whole(
                        _as_json(one, at)
                        if as_json
                        else f"{one.id}  {one.masked}  {one.status(at):8}  {_rate(one)}  {one.name}"
                    )
                if place is None:
                    break


def _rate(one: Key) -> str:
    per_second, burst = one.rate
    return f"{per_second} a second, burst {burst}"


def _as_json(one: Key, at: datetime) -> str:
    per_second, burst = one.rate
    return json.dumps(
        {
            "id": str(one.id),
            "mode": one.mode,
            "name": one.name,
            "shown": one.masked,
            "status": one.status(at),
            "per_second": per_second,
            "burst": burst,
            "created_at": rfc3339(one.created_at),
        }
    )


@key.command()
def rate(
    key_id: Annotated[str, typer.Argument(metavar="KEY", help="The id of the key: `gatepass key list` shows it.")],
    *,
    per_second: Annotated[
        int | None, typer.Option(min=1, max=MOST_PER_SECOND, help="Calls a second, for as long as they come.")
    ] = None,
    burst: Annotated[
        int | None, typer.Option(min=1, max=MOST_BURST, help="Calls at once after a rest. Twice the rate if left out.")
    ] = None,
    default: Annotated[bool, typer.Option("--default", help="Give it the rate of its mode again.")] = False,
) -> None:
    """Give a key its own rate, or show the one it has. Scans and other calls have a bucket each, of this size.

    A running process notices a higher rate when it would refuse a call, and any other within a minute of use.
    """
    wanted = strict_uuid(key_id.strip())
    if wanted is None:
        raise CommandError("A key is named by its id, which `gatepass key list` shows.", code=WRONG_USAGE)
    if default and (per_second or burst):
        raise CommandError("Say --default, or the rate: not both.", code=WRONG_USAGE)
    print(asyncio.run(_choose(read_operator_settings(), wanted, per_second, burst, default=default)))


async def _choose(settings: Settings, key_id: UUID, per_second: int | None, burst: int | None, *, default: bool) -> str:
    log_events(settings)
    async with database.database(settings) as db, db.transaction() as tx:
        try:
            found = await keys.key_of_operator(tx, key_id)
        except KeyNotFound:
            raise CommandError(f"There is no API key with the id {key_id}.") from None
        if default:
            await keys.choose_rate(tx, found, None, None, by=BY, at=system_clock())
        elif per_second or burst:
            own = per_second or found.rate_per_second
            most = burst or (found.burst if per_second is None else 2 * per_second)
            await keys.choose_rate(tx, found, own, most, by=BY, at=system_clock())
        found = await keys.key_of_operator(tx, key_id)
    calls, at_once = found.rate()
    return f"{found.name}: {calls} calls a second, {at_once} at once."
