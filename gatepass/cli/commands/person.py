"""`gatepass person link` makes a link for a person who has lost everything that they sign in with.

`gatepass person list` lists accounts, `disable` and `enable` turn one off and on again, `remove` removes one.
"""

import asyncio
import json
import sys
from typing import Annotated

import typer

from gatepass.base.clock import rfc3339, system_clock
from gatepass.base.settings import Settings
from gatepass.cli import database
from gatepass.cli.app import App
from gatepass.cli.errors import CommandError
from gatepass.cli.operator import BY, PAGE, day, log_events, studio_origin, the_organization, the_person
from gatepass.cli.output import print_whole
from gatepass.cli.settings import read_operator_settings
from gatepass.domain import staff
from gatepass.domain.lifecycle.listing import FIRST
from gatepass.domain.staff import account
from gatepass.domain.staff.account import ListedPerson
from gatepass.domain.staff.membership import note_everywhere
from gatepass.domain.staff.team import LastOwner

person = App("person", help="People who use the studio.")


@person.callback()
def people_of_the_studio() -> None:
    """People who use the studio."""


@person.command()
def link(
    email: Annotated[str, typer.Argument(metavar="EMAIL", help="Whom the link signs in.")],
    *,
    keep_credentials: Annotated[
        bool,
        typer.Option(
            "--keep-credentials",
            help="Keep their passwords, passkeys and sessions. Only if you know that all of them are theirs.",
        ),
    ] = False,
) -> None:
    """Print a link that signs this person in, once, within 15 minutes. Give it to nobody but them.

    Everything that the account signs in with is removed first, and its sessions end: somebody else may have made it.
    From then on the account counts as theirs. Their organizations see it in the audit log.
    """
    url, told = asyncio.run(_link(read_operator_settings(), email.strip(), keep_credentials=keep_credentials))
    print(told, file=sys.stderr)
    print(url)


async def _link(settings: Settings, email: str, *, keep_credentials: bool) -> tuple[str, str]:
    at = system_clock()
    async with database.database(settings) as db, db.transaction() as tx:
        found = await the_person(tx, email)
        if found.disabled_at is not None:
            raise CommandError(f"{found.email} is disabled. Run `gatepass person enable {found.email}` first.")
        if keep_credentials:
            told = "Kept everything that they sign in with. Whether the account is theirs stays open."
        else:
            removed = await account.reset(tx, found.id, by=BY, at=at)
            await staff.mark_proven(tx, found.id, at=at)
            told = f"Removed: {removed}. They choose a new passkey or password after they have used the link."
        token = await staff.make_link(tx, found.id, cell=settings.cell, at=at)
        await note_everywhere(tx, found.id, "sign_in_link_made", by=BY, at=at)
    return f"{studio_origin(settings)}/studio/link/{token}", told


@person.command("list")
def list_people(
    *,
    organization: Annotated[
        str | None, typer.Option(metavar="ORGANIZATION", help="Only its members; its name, or its id.")
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print a JSON object for each.")] = False,
) -> None:
    """List the accounts of this cell, oldest first: address, state, when they were last seen, and their roles."""
    asyncio.run(_list(read_operator_settings(), organization, as_json=as_json))


async def _list(settings: Settings, organization: str | None, *, as_json: bool) -> None:
    async with database.database(settings) as db, db.autocommit() as tx:
        within = None if organization is None else (await the_organization(tx, organization.strip())).id
        after = FIRST
        while found := await account.page_of_people(tx, after=after, limit=PAGE, organization_id=within):
            print_whole("\n".join(_as_json(one) if as_json else _as_line(one) for one in found))
            after = found[-1].id


def _as_line(one: ListedPerson) -> str:
    state = "disabled" if one.disabled_at else "enabled "
    return f"{one.email}  {state}  seen {day(one.last_seen_at)}  {', '.join(one.roles) or 'no organization'}"


def _as_json(one: ListedPerson) -> str:
    return json.dumps(
        {
            "id": str(one.id),
            "email": one.email,
            "name": one.name,
            "created_at": rfc3339(one.created_at),
            "disabled_at": one.disabled_at and rfc3339(one.disabled_at),
            "last_seen_at": one.last_seen_at and rfc3339(one.last_seen_at),
            "roles": one.roles,
        }
    )


@person.command()
def disable(email: Annotated[str, typer.Argument(metavar="EMAIL", help="Whose account is disabled.")]) -> None:
    """End this person's sessions and refuse every sign-in, until `gatepass person enable`.

    Their memberships and credentials stay. API keys that they made keep working: revoke them in the studio.
    """
    print(asyncio.run(_disable(read_operator_settings(), email.strip())))


async def _disable(settings: Settings, email: str) -> str:
    log_events(settings)
    async with database.database(settings) as db, db.transaction() as tx:
        found = await the_person(tx, email)
        ended = await account.disable(tx, found.id, by=BY, at=system_clock())
    if ended is None:
        return f"{found.email} was disabled already."
    return f"{found.email} is disabled. Sessions that ended: {ended}."


@person.command()
def enable(email: Annotated[str, typer.Argument(metavar="EMAIL", help="Whose account is enabled again.")]) -> None:
    """Let a disabled person sign in again, with all that they had."""
    print(asyncio.run(_enable(read_operator_settings(), email.strip())))


async def _enable(settings: Settings, email: str) -> str:
    log_events(settings)
    async with database.database(settings) as db, db.transaction() as tx:
        found = await the_person(tx, email)
        enabled = await account.enable(tx, found.id, by=BY, at=system_clock())
    return f"{found.email} can sign in again." if enabled else f"{found.email} was not disabled."


@person.command()
def remove(
    email: Annotated[str, typer.Argument(metavar="EMAIL", help="Whose account is removed.")],
    *,
    even_last_owner: Annotated[
        bool, typer.Option("--even-last-owner", help="Also if an organization then has no owner.")
    ] = False,
) -> None:
    """Remove an account: its memberships, sessions and all that it signs in with. Its address is free again.

    The audit log keeps its name. API keys that the person made keep working: revoke them in the studio.
    """
    print(asyncio.run(_remove(read_operator_settings(), email.strip(), even_last_owner=even_last_owner)))


async def _remove(settings: Settings, email: str, *, even_last_owner: bool) -> str:
    at = system_clock()
    async with database.database(settings) as db, db.transaction() as tx:
        found = await the_person(tx, email)
        places = await staff.memberships(tx, found.id)
        try:
            removed = await account.remove_person(
                tx, found.id, found.email, by=BY, at=at, even_last_owner=even_last_owner
            )
        except LastOwner as refusal:
            raise CommandError(f"{refusal} Make somebody else an owner first, or use --even-last-owner.") from None
    left = ", ".join(place.name for place in places) or "no organization"
    return f"Removed {found.email}, a member of {left}, with: {removed}."
