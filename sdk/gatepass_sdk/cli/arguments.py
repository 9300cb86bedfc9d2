"""Arguments: times, lists, and confirmation."""

import sys
from collections.abc import Iterable, Sequence
from datetime import UTC, datetime, timedelta
from itertools import islice
from typing import Annotated, Final, TypeVar

import typer

from gatepass_sdk.cli.errors import CommandError, ExitCode

T = TypeVar("T")

DEFAULT_LIMIT: Final = 20
LARGEST_PAGE: Final = 100
AGO: Final = {"s": "seconds", "m": "minutes", "h": "hours", "d": "days"}

Types = Annotated[
    list[str] | None,
    typer.Option("--types", metavar="TYPE,…", help="Only these types, such as ticket.activated,ticket.cancelled."),
]
Most = Annotated[int, typer.Option("--limit", "-n", min=1, help="How many.")]
Reason = Annotated[str, typer.Option("--reason", help="Why. It is kept, and subscribers are told.")]
ExternalId = Annotated[str | None, typer.Option("--external-id", metavar="ID", help="Its id in your own system.")]
Yes = Annotated[bool, typer.Option("--yes", "-y", help="Do not ask.")]


def moment(text: str | None, option: str) -> datetime | None:
    """`2026-06-15T18:30:00Z`, or how long ago: `90s`, `10m`, `2h`, `3d`."""
    if text is None:
        return None
    if text[:-1].isascii() and text[:-1].isdigit() and text[-1] in AGO:
        return datetime.now(UTC) - timedelta(**{AGO[text[-1]]: int(text[:-1])})
    try:
        found = datetime.fromisoformat(text)
    except ValueError:
        found = None
    if found is None or found.tzinfo is None:
        raise CommandError(
            f"{option} is a time with its zone, such as 2026-06-15T18:30:00Z, or how long ago, such as 10m."
        )
    return found


def listed(values: Sequence[str] | None) -> list[str] | None:
    """The values of an option that is given once with commas, or several times."""
    return [part for value in values for part in value.split(",") if part] if values else None


def first_of(pages: Iterable[T], most: int) -> list[T]:
    """The first items; no page is fetched for more."""
    return list(islice(pages, most))


def require_yes(question: str, *, yes: bool) -> None:
    """Ask for confirmation at the terminal. A script passes `--yes`."""
    if yes:
        return
    if not sys.stdin.isatty():
        raise CommandError(f"{question} Say --yes if so.")
    if not typer.confirm(question, err=True):
        raise CommandError("Nothing was done.", ExitCode.REFUSED)
