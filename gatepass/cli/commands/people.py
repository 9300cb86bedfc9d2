"""`gatepass organization create` makes an organization and the link for its first owner.

`gatepass organization clear-networks` lets its people in again, if they locked themselves out.

`gatepass person link` makes a link for a person who has lost everything that they sign in with, and `gatepass person
remove` removes an account.
"""

import asyncio
import sys
from typing import Annotated, Final

import typer

from gatepass.base.clock import system_clock
from gatepass.base.database import Tx
from gatepass.base.errors import InvalidRequest
from gatepass.base.settings import Settings
from gatepass.cli import database
from gatepass.cli.errors import WRONG_USAGE, CommandError
from gatepass.cli.settings import read_settings, read_settings_with_vault
from gatepass.domain import cards, organizations, staff
from gatepass.domain.staff import Person, Role, access, account, invitations
from gatepass.domain.staff.membership import note_everywhere
from gatepass.domain.staff.team import LastOwner

BY: Final = "operator"
LONGEST_NAME: Final = 200

organization = typer.Typer(name="organization", help="Organizations: the tenants of this cell.", no_args_is_help=True)
person = typer.Typer(name="person", help="People who use the studio.", no_args_is_help=True)


@organization.callback()
def organizations_of_this_cell() -> None:
    """Organizations: the tenants of this cell."""


@organization.command()
def create(
    name: Annotated[str, typer.Argument(help="What the organization is called.")],
    owner: Annotated[str, typer.Option("--owner", metavar="EMAIL", help="Who owns it; the link is for them.")],
) -> None:
    """Make an organization, and print the link by which its owner signs up. It works once, for seven days."""
    stripped = name.strip()
    if not 1 <= len(stripped) <= LONGEST_NAME or not stripped.isprintable():
        raise CommandError(f"A name has 1 to {LONGEST_NAME} characters.", code=WRONG_USAGE)
    print(asyncio.run(_create(read_settings_with_vault(), stripped, owner.strip())))


async def _create(settings: Settings, name: str, owner: str) -> str:

    at = system_clock()
    async with database.database(settings) as db, db.transaction() as tx:
        made = await organizations.create(tx, name, at=at)
        await cards.rotate(tx, made.id, settings.vault(), by=BY, at=at)
        try:
            invited = await invitations.invite(
                tx, made.id, owner, Role.OWNER, giver=Role.OWNER, cell=settings.cell, by=BY, at=at, proves_email=True
            )
        except InvalidRequest as refusal:
            raise CommandError(f"{owner}: {refusal}", code=WRONG_USAGE) from None
    return f"{_origin(settings)}/studio/welcome/{invited.token}"


@organization.command()
def clear_networks(
    name: Annotated[str, typer.Argument(metavar="ORGANIZATION", help="Its name, or its id.")],
) -> None:
    """Let its people use the studio from every address again. They see in their audit log that you did."""
    asyncio.run(_clear_networks(read_settings(), name.strip()))


async def _clear_networks(settings: Settings, name: str) -> None:
    async with database.database(settings) as db, db.transaction() as tx:
        found = await organizations.named(tx, name)
        if not found:
            raise CommandError(f"No organization is called {name}.")
        if len(found) > 1:
            ids = ", ".join(str(one.id) for one in found)
            raise CommandError(f"Several organizations are called {name}. Name one by its id: {ids}.")
        cleared = await access.clear_networks(tx, found[0].id, by=BY, at=system_clock())
    print("Every address is allowed again." if cleared else "Every address was allowed already.")


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
    url, told = asyncio.run(_link(read_settings(), email.strip(), keep_credentials=keep_credentials))
    print(told, file=sys.stderr)
    print(url)


async def _link(settings: Settings, email: str, *, keep_credentials: bool) -> tuple[str, str]:
    at = system_clock()
    async with database.database(settings) as db, db.transaction() as tx:
        found = await _found(tx, email)
        if keep_credentials:
            told = "Kept everything that they sign in with. Whether the account is theirs stays open."
        else:
            removed = await account.reset(tx, found.id, by=BY, at=at)
            await staff.mark_proven(tx, found.id, at=at)
            told = f"Removed: {removed}. They choose a new passkey or password after they have used the link."
        token = await staff.make_link(tx, found.id, cell=settings.cell, at=at)
        await note_everywhere(tx, found.id, "sign_in_link_made", by=BY, at=at)
    return f"{_origin(settings)}/studio/link/{token}", told


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
    print(asyncio.run(_remove(read_settings(), email.strip(), even_last_owner=even_last_owner)))


async def _remove(settings: Settings, email: str, *, even_last_owner: bool) -> str:
    at = system_clock()
    async with database.database(settings) as db, db.transaction() as tx:
        found = await _found(tx, email)
        places = await staff.memberships(tx, found.id)
        try:
            removed = await account.remove_person(
                tx, found.id, found.email, by=BY, at=at, even_last_owner=even_last_owner
            )
        except LastOwner as refusal:
            raise CommandError(f"{refusal} Make somebody else an owner first, or use --even-last-owner.") from None
    left = ", ".join(place.name for place in places) or "no organization"
    return f"Removed {found.email}, a member of {left}, with: {removed}."


async def _found(tx: Tx, email: str) -> Person:
    found = await staff.find_person(tx, email)
    if found is None:
        raise CommandError(f"Nobody here has the e-mail address {email}.")
    return found


def _origin(settings: Settings) -> str:
    """The origin of the studio in a browser. `gatepass --help` does not wait for this import."""
    from gatepass.domain.staff.webauthn import relying_party  # noqa: PLC0415

    return relying_party(settings.public_url).origin
