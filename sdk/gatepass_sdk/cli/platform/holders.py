"""Options that describe the person who holds a card."""

from typing import Annotated

import typer

from gatepass_sdk import HolderDetails

Name = Annotated[str | None, typer.Option("--name", help="Who holds the card.")]
Email = Annotated[str | None, typer.Option("--email", metavar="ADDRESS", help="Their address: it finds their card.")]
Locale = Annotated[str | None, typer.Option("--locale", metavar="TAG", help="Their language, such as fr-BE.")]


def holder_of(name: str | None, email: str | None, locale: str | None) -> HolderDetails | None:
    """The holder with the fields that were given; None if there is none."""
    given = HolderDetails()
    if name is not None:
        given["name"] = name
    if email is not None:
        given["email"] = email
    if locale is not None:
        given["locale"] = locale
    return given or None
