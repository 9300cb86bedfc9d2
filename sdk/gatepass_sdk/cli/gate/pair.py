"""`gatepass-cli gate pair`: make this machine a device of an event, with the code that the studio shows."""

import os
import socket
from typing import Annotated, Final

import typer

from gatepass_sdk.cli.context import AsJson
from gatepass_sdk.cli.errors import CommandError
from gatepass_sdk.cli.gate.options import Directory, KeyFile, opened
from gatepass_sdk.cli.output import Printer

LINK: Final = "/gate#"


def pair(
    code: Annotated[str, typer.Argument(metavar="CODE", help="The code that the studio shows, or its whole link.")],
    *,
    url: Annotated[str | None, typer.Option("--url", metavar="URL", help="Where Gatepass is.")] = None,
    name: Annotated[str | None, typer.Option("--name", help="What the studio calls this device.")] = None,
    directory: Directory = None,
    key_file: KeyFile = None,
    as_json: AsJson = False,
) -> None:
    """Pair this machine with an event and a gate.

    It shows two words. The studio shows the same two to the person who made the code: they confirm only then.
    """
    out = Printer(as_json=as_json)
    address, _, linked = code.partition(LINK)
    where = url or (address if linked else None) or os.environ.get("GATEPASS_BASE_URL")
    if not where:
        raise CommandError("Say where Gatepass is, with --url or the whole link that the studio shows.")

    def show(words: tuple[str, str]) -> None:
        if as_json:
            out.data({"words": words})
        else:
            out.line(f"Compare these words with the studio:  {words[0]} {words[1]}", "strong")

    with opened(directory, key_file) as gate:
        device = gate.pair(linked or code, url=where, name=name or socket.gethostname(), on_words=show)
        fields = {"id": device.id, "name": device.name, "event_id": device.event_id, "gate": device.gate}
    if as_json:
        out.data({"paired": fields})
    else:
        out.line(f"Paired as {device.name}, at {device.gate}. Scan with: gatepass-cli gate run", "green")
