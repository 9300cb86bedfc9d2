"""`gatepass organization`: the tenants of this cell, as their operator makes, suspends, closes and exports them.

`gatepass organization clear-networks` lets its people in again, if they locked themselves out.
"""

import asyncio
import json
import sys
from datetime import timedelta
from pathlib import Path
from typing import Annotated, Final

import typer

from gatepass.base.clock import rfc3339, system_clock
from gatepass.base.errors import InvalidRequest, NotAllowedFromHere
from gatepass.base.server_clock import ServerClock
from gatepass.base.settings import Settings
from gatepass.base.text import is_line
from gatepass.cli import database, export_files
from gatepass.cli.app import App
from gatepass.cli.errors import WRONG_USAGE, CommandError
from gatepass.cli.operator import BY, PAGE, checked_reason, day, log_events, studio_origin, the_organization
from gatepass.cli.output import print_whole
from gatepass.cli.settings import read_operator_settings, read_operator_settings_with_vault
from gatepass.domain import cards, organizations
from gatepass.domain.events import time_zones
from gatepass.domain.lifecycle import export as organization_export
from gatepass.domain.lifecycle import suspension
from gatepass.domain.lifecycle.listing import FIRST, ListedOrganization, page_of_organizations
from gatepass.domain.staff import Role, access, invitations

LONGEST_NAME: Final = 200
# Ten years. A longer retention is no closure.
MOST_DAYS: Final = 3_650

organization = App("organization", help="Organizations: the tenants of this cell.")
Named = Annotated[str, typer.Argument(metavar="ORGANIZATION", help="Its name, or its id.")]
Reason = Annotated[str, typer.Option("--reason", help="Why. Its people read it in the studio.")]


@organization.callback()
def organizations_of_this_cell() -> None:
    """Organizations: the tenants of this cell."""


@organization.command()
def create(
    name: Annotated[str, typer.Argument(help="What the organization is called.")],
    owner: Annotated[str, typer.Option("--owner", metavar="EMAIL", help="Who owns it; the link is for them.")],
    time_zone: Annotated[
        str, typer.Option("--time-zone", metavar="CITY", help="Its time zone: Brussels, or Europe/Brussels.")
    ] = "UTC",
) -> None:
    """Make an organization, and print the link by which its owner signs up. It works once, for seven days."""
    stripped = name.strip()
    if len(stripped) > LONGEST_NAME or not is_line(stripped):
        raise CommandError(f"A name has 1 to {LONGEST_NAME} characters.", code=WRONG_USAGE)
    zone = time_zones.found_zone(time_zone.strip())
    if zone is None:
        raise CommandError(f"{time_zone}: {time_zones.UNKNOWN}", code=WRONG_USAGE)
    print(asyncio.run(_create(read_operator_settings_with_vault(), stripped, owner.strip(), zone)))


async def _create(settings: Settings, name: str, owner: str, zone: str) -> str:
    at = system_clock()
    async with database.database(settings) as db, db.transaction() as tx:
        made = await organizations.create(tx, name, at=at, time_zone=zone)
        await cards.rotate(tx, made.id, settings.vault(), by=BY, at=at)
        try:
            invited = await invitations.invite(
                tx, made.id, owner, Role.OWNER, giver=Role.OWNER, cell=settings.cell, by=BY, at=at, proves_email=True
            )
        except InvalidRequest as refusal:
            raise CommandError(f"{owner}: {refusal}", code=WRONG_USAGE) from None
    return f"{studio_origin(settings)}/studio/welcome/{invited.token}"


@organization.command()
def clear_networks(
    name: Named,
) -> None:
    """Let its people use the studio from every address again. They see in their audit log that you did."""
    asyncio.run(_clear_networks(read_operator_settings(), name.strip()))


async def _clear_networks(settings: Settings, name: str) -> None:
    async with database.database(settings) as db, db.transaction() as tx:
        found = await the_organization(tx, name)
        cleared = await access.clear_networks(tx, found.id, by=BY, at=system_clock())
    print("Every address is allowed again." if cleared else "Every address was allowed already.")


@organization.command("list")
def list_organizations(
    *, as_json: Annotated[bool, typer.Option("--json", help="Print a JSON object for each.")] = False
) -> None:
    """List the organizations of this cell, oldest first: id, state, people, keys, and name."""
    asyncio.run(_list(read_operator_settings(), as_json=as_json))


async def _list(settings: Settings, *, as_json: bool) -> None:
    async with database.database(settings) as db, db.autocommit() as tx:
        after = FIRST
        while found := await page_of_organizations(tx, after=after, limit=PAGE):
            print_whole("\n".join(_as_json(one) if as_json else _as_line(one) for one in found))
            after = found[-1].id


def _as_line(one: ListedOrganization) -> str:
    ends = f", erased after {day(one.erase_at)}" if one.erase_at else ""
    return f"{one.id}  {one.state:9}  people {one.members:3}  keys {one.keys:3}  {one.name}{ends}"


def _as_json(one: ListedOrganization) -> str:
    return json.dumps(
        {
            "id": str(one.id),
            "name": one.name,
            "state": one.state,
            "created_at": rfc3339(one.created_at),
            "suspended_at": one.suspended_at and rfc3339(one.suspended_at),
            "reason": one.suspended_reason,
            "closed_at": one.closed_at and rfc3339(one.closed_at),
            "erase_at": one.erase_at and rfc3339(one.erase_at),
            "people": one.members,
            "keys": one.keys,
        }
    )


@organization.command()
def suspend(name: Named, reason: Reason) -> None:
    """Refuse its API keys from the next call on, and hold its messages, until `gatepass organization resume`.

    Its people can still use the studio, which tells them the reason. Calls are answered with 403
    `organization_suspended`.
    """
    print(asyncio.run(_suspend(read_operator_settings(), name.strip(), checked_reason(reason))))


async def _suspend(settings: Settings, name: str, reason: str) -> str:
    log_events(settings)
    async with database.database(settings) as db, db.transaction() as tx:
        found = await the_organization(tx, name)
        try:
            done = await suspension.suspend(tx, found.id, reason=reason, by=BY, at=system_clock())
        except NotAllowedFromHere as refusal:
            raise CommandError(f"{found.name}: {refusal}") from None
    return f"{found.name} is suspended. Keys that are refused: {done.keys}. Endpoints that wait: {done.endpoints}."


@organization.command()
def resume(name: Named) -> None:
    """Undo a suspension: its keys work again, and messages that were held are sent.

    It undoes a closure too, until the day of the erasure. The keys that the closure has revoked stay revoked.
    """
    print(asyncio.run(_resume(read_operator_settings(), name.strip())))


async def _resume(settings: Settings, name: str) -> str:
    log_events(settings)
    async with database.database(settings) as db, db.transaction() as tx:
        found = await the_organization(tx, name)
        try:
            done = await suspension.resume(tx, found.id, by=BY, at=system_clock())
        except NotAllowedFromHere as refusal:
            raise CommandError(f"{found.name}: {refusal}") from None
    return f"{found.name} is resumed. Keys that work again: {done.keys}. Endpoints that are sent to: {done.endpoints}."


@organization.command()
def close(
    name: Named,
    reason: Reason,
    *,
    keep_days: Annotated[
        int, typer.Option(min=1, max=MOST_DAYS, help="Days until everything in it is erased.")
    ] = suspension.KEPT.days,
    yes: Annotated[bool, typer.Option("--yes", help="Do not ask.")] = False,
) -> None:
    """Revoke its API keys, hold its messages, and erase everything in it after --keep-days.

    Maintenance erases it, in pieces. Until then `gatepass organization resume` takes it back, without its keys.
    Closing it again sets another day.
    """
    settings, text = read_operator_settings(), checked_reason(reason)
    if not yes:
        _ask(f"Close {name.strip()} and erase everything in it after {keep_days} days?")
    print(asyncio.run(_close(settings, name.strip(), text, timedelta(days=keep_days))))


def _ask(question: str) -> None:
    if not sys.stdin.isatty():
        raise CommandError("Say --yes: there is nobody to ask.", code=WRONG_USAGE)
    if not typer.confirm(question):
        raise CommandError("Nothing was changed.")


async def _close(settings: Settings, name: str, reason: str, keep: timedelta) -> str:
    log_events(settings)
    async with database.database(settings) as db, db.transaction() as tx:
        at = await ServerClock().agreed(tx)  # it is erased by this time
        found = await the_organization(tx, name)
        done = await suspension.close(tx, found.id, reason=reason, by=BY, at=at, keep=keep)
    return f"{found.name} is closed. Keys that were revoked: {done.keys}. It is erased after {day(at + keep)}."


@organization.command()
def export(
    name: Named,
    to: Annotated[Path, typer.Option("--to", metavar="FOLDER", help="A folder that does not exist yet.")],
) -> None:
    """Write everything that it owns into a new folder, as JSON lines, with the personal data of its guests.

    Only you can read the files. Its audit log says that you did.
    """
    print(asyncio.run(_export(read_operator_settings(), name.strip(), to)))


async def _export(settings: Settings, name: str, to: Path) -> str:
    log_events(settings)
    async with database.database(settings) as db:
        async with db.autocommit() as tx:
            found = await the_organization(tx, name)
        folder = export_files.new_folder(to)
        at = system_clock()
        async with db.transaction() as tx:
            await organization_export.record_export(tx, found.id, by=BY, at=at)
        rows = await export_files.write(db, found, folder, at=at)
    return f"{found.name} is in {to}, with personal data; manifest.json lists the files. Rows: {rows}."
