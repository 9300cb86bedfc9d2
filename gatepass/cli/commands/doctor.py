"""`gatepass doctor`: is everything in place? One line for each thing, and how to mend what is not."""

import asyncio
from collections.abc import AsyncGenerator, Iterator
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final

import typer
from rich.console import Console

from gatepass.base.clock import system_clock
from gatepass.base.database import Database
from gatepass.base.settings import Settings
from gatepass.cli import environment, reaching
from gatepass.cli.environment import variable
from gatepass.cli.trouble import WRONG_STATE, Trouble
from gatepass.domain import examination, resealing, schema
from gatepass.domain.examination import Server
from gatepass.domain.resealing import Sealed
from gatepass.migrations.head import head

SUPPORTED: Final = range(15, 19)
# Tokens expire to the second, and the two minutes that a scan may come from the future are measured against it.
LARGEST_SKEW: Final = timedelta(seconds=1)


@dataclass(frozen=True, slots=True)
class Finding:
    good: bool
    line: str
    mend: str = ""


def doctor() -> None:
    """Look at settings, keys, database, schema and clock, and say how to mend what is wrong."""
    raise typer.Exit(asyncio.run(_report(Console(soft_wrap=True, highlight=False))))


async def _report(console: Console) -> int:
    code = 0
    async for finding in _findings():
        console.print("[green]✓[/green]" if finding.good else "[red]✗[/red]", end=" ")
        console.print(f"{finding.line} {finding.mend}".rstrip(), markup=False)
        code = code if finding.good else WRONG_STATE
    return code


async def _findings() -> AsyncGenerator[Finding, None]:
    """What comes later rests on what came before, so the first that makes the rest pointless ends the visit."""
    try:
        settings = environment.read()
    except Trouble as trouble:
        for line in str(trouble).splitlines():
            yield Finding(False, line)
        return
    yield Finding(True, "The settings can be read.")
    yield _encryption(settings)
    try:
        async with reaching.database(settings, deadline=settings.database_deadline) as db:
            async for finding in _of_database(db, settings):
                yield finding
    except Trouble as trouble:
        yield Finding(False, str(trouble))


def _encryption(settings: Settings) -> Finding:
    try:
        settings.vault()
    except ValueError as error:
        mend = "Make one with `gatepass secret` and keep it safe: what it seals, nothing else opens."
        return Finding(False, f"{variable('encryption_keys')}: {error}.", mend)
    return Finding(True, f"{len(settings.encryption_keys)} encryption key(s), well formed.")


async def _of_database(db: Database, settings: Settings) -> AsyncGenerator[Finding, None]:
    async with db.reading() as tx:
        await examination.examine(tx)
        asked = system_clock()
        server = await examination.examine(tx)
        answered = system_clock()
        installed = await schema.installed(tx)
    yield Finding(True, f"PostgreSQL answers at {reaching.where(settings.database_url.get_secret_value())}.")
    yield _version(server)
    yield _skew(server, asked, answered)
    migrated = _schema(installed)
    yield migrated
    if migrated.good:
        yield await _partitions(db)
    if migrated.good and _encryption(settings).good:
        for finding in _secrets(await resealing.examine(db, settings.vault())):
            yield finding


def _version(server: Server) -> Finding:
    first, last = SUPPORTED[0], SUPPORTED[-1]
    return Finding(
        server.major in SUPPORTED,
        f"It is PostgreSQL {server.version}.",
        "" if server.major in SUPPORTED else f"Gatepass is tested with {first} to {last}: use one of those.",
    )


def _skew(server: Server, asked: datetime, answered: datetime) -> Finding:
    """Between asking and answering, the server's clock should have shown the middle."""
    skew = server.clock - (asked + (answered - asked) / 2)
    if abs(skew) < LARGEST_SKEW:
        return Finding(True, "Its clock and this machine's agree.")
    way = "ahead of" if skew > timedelta() else "behind"
    seconds = abs(skew).total_seconds()
    line = f"PostgreSQL's clock is {seconds:.1f} s {way} this machine's."
    return Finding(False, line, "One of them is wrong: see `timedatectl` on both, and let chrony or NTP keep them.")


def _schema(installed: str | None) -> Finding:
    needed = head()
    if installed == needed:
        return Finding(True, f"The schema is at {installed}.")
    has = f"The schema is at {installed}, this version needs {needed}." if installed else "There is no schema yet."
    return Finding(False, has, "Run `gatepass migrate`.")


async def _partitions(db: Database) -> Finding:
    async with db.reading() as tx:
        missing = await examination.missing_partitions(tx, at=system_clock())
    if not missing:
        return Finding(True, "The partitions for now and next are there.")
    mend = "Run `gatepass upkeep`, and see that it runs every minute or so."
    return Finding(False, f"Partitions are missing: {', '.join(missing)}.", mend)


def _secrets(sealed: Sealed) -> Iterator[Finding]:
    """An older key that is still needed is no fault: it is what there is between two keys."""
    if sealed.older:
        line = f"{sealed.older} of {sealed.older + sealed.current} secret(s) are sealed under an older key."
        yield Finding(True, line, "Run `gatepass reseal`, then the old key can go.")
    else:
        yield Finding(
            True, f"{sealed.current} secret(s) are sealed under the first encryption key, none under another."
        )
    if sealed.unopened:
        line = f"{len(sealed.unopened)} secret(s) cannot be opened by any of the encryption keys."
        mend = f"Add the key that sealed them to {variable('encryption_keys')}; `gatepass reseal` names their rows."
        yield Finding(False, line, mend)
