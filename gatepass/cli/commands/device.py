"""`gatepass device`: pair a device from the operator's terminal, where no browser is at hand.

`gatepass device code` prints a code, the device asks with it and shows two words, and `gatepass device confirm` takes
in the device that shows these two. Who types the words has compared them.
"""

import asyncio
from typing import Annotated
from uuid import UUID

import typer

from gatepass.base.clock import system_clock
from gatepass.base.errors import InvalidRequest, NotAllowedFromHere
from gatepass.base.ids import strict_uuid
from gatepass.base.settings import Settings
from gatepass.cli import database
from gatepass.cli.app import App
from gatepass.cli.errors import WRONG_USAGE, CommandError
from gatepass.cli.operator import BY, log_events, the_organization
from gatepass.cli.settings import read_operator_settings
from gatepass.domain.devices import pairing
from gatepass.domain.devices.pairing import RequestStatus
from gatepass.domain.events import EventNotFound
from gatepass.domain.keys import Mode

device = App("device", help="Devices at the gates.")
Named = Annotated[str, typer.Argument(metavar="ORGANIZATION", help="Its name, or its id.")]
Sandbox = Annotated[bool, typer.Option("--sandbox", help="For a rehearsal, with the sandbox's own events.")]


@device.callback()
def devices_at_the_gates() -> None:
    """Devices at the gates."""


@device.command()
def code(
    name: Named,
    event: Annotated[str, typer.Argument(metavar="EVENT", help="The id of the event.")],
    *,
    gate: Annotated[str, typer.Option("--gate", metavar="GATE", help="The gate, such as North 2.")],
    devices: Annotated[int, typer.Option("--devices", help="How many devices may ask with it.")] = 1,
    sandbox: Sandbox = False,
) -> None:
    """Print a code with which a device can ask to be paired, for ten minutes. It is no credential."""
    event_id = strict_uuid(event.strip())
    if event_id is None:
        raise CommandError("An event is named by its id.", code=WRONG_USAGE)
    mode = Mode.SANDBOX if sandbox else Mode.LIVE
    print(asyncio.run(_code(read_operator_settings(), name.strip(), mode, event_id, gate, devices)))


async def _code(settings: Settings, name: str, mode: Mode, event_id: UUID, gate: str, devices: int) -> str:
    async with database.database(settings) as db, db.transaction() as tx:
        organization = await the_organization(tx, name)
        try:
            made = await pairing.make_code(
                tx, organization.id, mode, event_id, gate, devices=devices, cell=settings.cell, by=BY, at=system_clock()
            )
        except EventNotFound:
            raise CommandError(f"{organization.name} has no event with the id {event_id}.") from None
        except (InvalidRequest, NotAllowedFromHere) as refusal:
            raise CommandError(str(refusal)) from None
    return pairing.written_code(made.text)


@device.command()
def confirm(
    name: Named,
    words: Annotated[list[str], typer.Argument(metavar="WORDS", help="The two words on the device's screen.")],
    *,
    sandbox: Sandbox = False,
) -> None:
    """Take in the device that asks and shows these two words."""
    shown = [word.lower() for text in words for word in text.split()]
    mode = Mode.SANDBOX if sandbox else Mode.LIVE
    print(asyncio.run(_confirm(read_operator_settings(), name.strip(), mode, shown)))


async def _confirm(settings: Settings, name: str, mode: Mode, words: list[str]) -> str:
    log_events(settings)
    at = system_clock()
    async with database.database(settings) as db, db.transaction() as tx:
        organization = await the_organization(tx, name)
        asking = [
            (code, request)
            for code in await pairing.open_codes(tx, organization.id, mode, at=at)
            for request in await pairing.requests_of(tx, organization.id, code.id)
            if request.status is RequestStatus.WAITING and request.words == words
        ]
        if len(asking) != 1:
            raise CommandError(
                f"{'Two devices show' if asking else 'No device asks and shows'} these words. Make another code."
            )
        code, request = asking[0]
        paired = await pairing.confirm(tx, organization.id, mode, code.id, request.request, by=BY, at=at)
    return f"{paired.name} works at {paired.gate}."
