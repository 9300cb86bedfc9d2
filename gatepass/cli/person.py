"""`gatepass person link`: a way back for somebody who has lost everything that they sign in with."""

import asyncio
from typing import Annotated

import typer

from gatepass.base.clock import system_clock
from gatepass.base.settings import Settings
from gatepass.cli import environment, reaching
from gatepass.cli.trouble import Trouble
from gatepass.domain import staff
from gatepass.domain.staff.noting import note_everywhere
from gatepass.domain.staff.party import party

BY = "operator"

person = typer.Typer(name="person", help="People who use the studio.", no_args_is_help=True)


@person.callback()
def people_of_the_studio() -> None:
    """People who use the studio."""


@person.command()
def link(email: Annotated[str, typer.Argument(metavar="EMAIL", help="Whom the link signs in.")]) -> None:
    """Print a link that signs this person in, once, within 15 minutes. Their organizations see that you made it."""
    print(asyncio.run(_link(environment.read(), email.strip())))


async def _link(settings: Settings, email: str) -> str:
    at = system_clock()
    async with reaching.database(settings) as db, db.transaction() as tx:
        found = await staff.find_person(tx, email)
        if found is None:
            raise Trouble(f"Nobody here has the e-mail address {email}.")
        token = await staff.make_link(tx, found.id, at=at)
        await note_everywhere(tx, found.id, "sign_in_link_made", by=BY, at=at)
    return f"{party(settings.public_url).origin}/studio/link/{token}"
