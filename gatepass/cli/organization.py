"""`gatepass organization create`: a new organization, and the link that makes its first owner."""

import asyncio
from typing import Annotated

import typer

from gatepass.base.clock import system_clock
from gatepass.base.refusals import InvalidRequest
from gatepass.base.settings import Settings
from gatepass.cli import environment, reaching
from gatepass.cli.trouble import WRONG_USAGE, Trouble
from gatepass.domain import cards, organizations
from gatepass.domain.staff import Role, invitations
from gatepass.domain.staff.party import party

BY = "operator"
LONGEST_NAME = 200

organization = typer.Typer(name="organization", help="Organizations: the tenants of this cell.", no_args_is_help=True)


@organization.callback()
def organizations_of_this_cell() -> None:
    """Organizations: the tenants of this cell."""


@organization.command()
def create(
    name: Annotated[str, typer.Argument(help="What the organization is called.")],
    owner: Annotated[str, typer.Option("--owner", metavar="EMAIL", help="Who owns it; the link is for them.")],
) -> None:
    """Make an organization, and print the link by which its owner signs up. It works once, for seven days."""
    wanted = name.strip()
    if not 1 <= len(wanted) <= LONGEST_NAME or not wanted.isprintable():
        raise Trouble(f"A name has 1 to {LONGEST_NAME} characters.", code=WRONG_USAGE)
    print(asyncio.run(_create(environment.read_with_vault(), wanted, owner.strip())))


async def _create(settings: Settings, name: str, owner: str) -> str:
    at = system_clock()
    async with reaching.database(settings) as db, db.transaction() as tx:
        made = await organizations.found(tx, name, at=at)
        await cards.rotate(tx, made.id, settings.vault(), by=BY, at=at)
        try:
            invited = await invitations.invite(tx, made.id, owner, Role.OWNER, giver=Role.OWNER, by=BY, at=at)
        except InvalidRequest as refusal:
            raise Trouble(f"{owner}: {refusal}", code=WRONG_USAGE) from None
    return f"{party(settings.public_url).origin}/studio/welcome/{invited.token}"
