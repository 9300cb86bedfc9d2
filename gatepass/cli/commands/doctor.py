"""`gatepass doctor`: check the installation. One line for each finding, with the remedy for what is wrong."""

import asyncio
from collections.abc import AsyncGenerator, Iterator
from datetime import datetime, timedelta
from typing import Final

import typer
from rich.console import Console

from gatepass.base.clock import system_clock
from gatepass.base.database import Database
from gatepass.base.settings import Settings
from gatepass.cli import database, valkey
from gatepass.cli.doctor import cluster, mail, wallet
from gatepass.cli.doctor.report import Finding
from gatepass.cli.errors import WRONG_STATE, CommandError
from gatepass.cli.settings import read_operator_settings, variable
from gatepass.domain import diagnostics, reencrypt, schema
from gatepass.domain.diagnostics import DatabaseServer
from gatepass.domain.reencrypt import EncryptionReport
from gatepass.migrations.head import head

SUPPORTED: Final = range(15, 19)
# Tokens expire to the second, and a scan may come at most two minutes from the future.
LARGEST_SKEW: Final = timedelta(seconds=1)


def doctor() -> None:
    """Check settings, keys, mail, database, replication, schema and clock, and say how to fix what is wrong."""
    raise typer.Exit(asyncio.run(_report(Console(soft_wrap=True, highlight=False))))


async def _report(console: Console) -> int:
    code = 0
    async for finding in _findings():
        sign = "[yellow]![/yellow]" if finding.is_warning else "[green]✓[/green]" if finding.good else "[red]✗[/red]"
        console.print(sign, end=" ")
        console.print(f"{finding.line} {finding.remedy}".rstrip(), markup=False)
        code = code if finding.good else WRONG_STATE
    return code


async def _findings() -> AsyncGenerator[Finding, None]:
    """Each check needs those before it, so the first failure that makes the rest pointless ends the list."""
    try:
        settings = read_operator_settings()
    except CommandError as error:
        for line in str(error).splitlines():
            yield Finding(False, line)
        return
    yield Finding(True, "The settings can be read.")
    yield _encryption(settings)
    async for finding in _of_other_services(settings):
        yield finding
    if database.is_unverified(settings.database_url.get_secret_value()):
        yield _unverified("PostgreSQL", "Set sslmode=verify-full and sslrootcert in GATEPASS_DATABASE_URL.")
    async for finding in cluster.of_hosts(settings):
        yield finding
    try:
        async with database.database(settings, deadline=settings.database_deadline) as db:
            async for finding in _of_database(db, settings):
                yield finding
    except CommandError as error:
        yield Finding(False, str(error))


async def _of_other_services(settings: Settings) -> AsyncGenerator[Finding, None]:
    for finding in wallet.of_wallets(settings, system_clock()):
        yield finding
    async for finding in mail.of_mail(settings):
        yield finding
    if settings.valkey_url is not None:
        async for finding in _of_valkey(settings.valkey_url.get_secret_value()):
            yield finding


def _encryption(settings: Settings) -> Finding:
    try:
        settings.vault()
    except ValueError as error:
        remedy = "Make one with `gatepass secret` and keep it safe: what it seals, nothing else opens."
        return Finding(False, f"{variable('encryption_keys')}: {error}.", remedy)
    return Finding(True, f"{len(settings.encryption_keys)} encryption key(s), well formed.")


async def _of_valkey(url: str) -> AsyncGenerator[Finding, None]:
    """Gates work without it, so none of this is a fault."""
    place, fault = valkey.where(url), await valkey.fault(url)
    if fault is None:
        yield Finding(True, f"Valkey answers at {place}.")
    else:
        line = f"Valkey at {place} is not used: {fault}."
        yield Finding(True, line, "Each process keeps its own rate limits meanwhile.", is_warning=True)
    if valkey.is_unverified(url):
        yield _unverified("Valkey", "Use rediss:// in GATEPASS_VALKEY_URL.")


def _unverified(what: str, remedy: str) -> Finding:
    line = f"TLS to {what} is not verified: whoever is between could read and change what is sent."
    return Finding(True, line, remedy, is_warning=True)


async def _of_database(db: Database, settings: Settings) -> AsyncGenerator[Finding, None]:
    pooler = await cluster.of_pooler(db)
    if pooler is not None:
        yield pooler
        if not pooler.good:
            return
    async with db.autocommit() as tx:
        await diagnostics.examine(tx)
        asked = system_clock()
        server = await diagnostics.examine(tx)
        answered = system_clock()
        replication = await diagnostics.replication(tx)
        installed = await schema.installed(tx)
    yield Finding(True, f"PostgreSQL answers at {database.where(settings.database_url.get_secret_value())}.")
    yield _version(server)
    yield _skew(server, asked, answered)
    for finding in cluster.of_replication(replication):
        yield finding
    yield await cluster.of_commits(db)
    migrated = _schema(installed)
    yield migrated
    if migrated.good:
        yield await _partitions(db)
    if migrated.good and _encryption(settings).good:
        for finding in _secrets(await reencrypt.examine(db, settings.vault())):
            yield finding


def _version(server: DatabaseServer) -> Finding:
    first, last = SUPPORTED[0], SUPPORTED[-1]
    return Finding(
        server.major in SUPPORTED,
        f"It is PostgreSQL {server.version}.",
        "" if server.major in SUPPORTED else f"Gatepass is tested with {first} to {last}: use one of those.",
    )


def _skew(server: DatabaseServer, asked: datetime, answered: datetime) -> Finding:
    """The server's clock should show the middle between the question and its answer."""
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
    async with db.autocommit() as tx:
        missing = await diagnostics.missing_partitions(tx)
    if not missing:
        return Finding(True, "The partitions for now and next are there.")
    remedy = "Run `gatepass maintenance`, and see that it runs every minute or so."
    return Finding(False, f"Partitions are missing: {', '.join(missing)}.", remedy)


def _secrets(sealed: EncryptionReport) -> Iterator[Finding]:
    """An older key that is still in use is no fault: that is normal during a rotation."""
    if sealed.older:
        line = f"{sealed.older} of {sealed.older + sealed.current} secret(s) are sealed under an older key."
        yield Finding(True, line, "Run `gatepass reencrypt`, then the old key can go.")
    else:
        yield Finding(
            True, f"{sealed.current} secret(s) are sealed under the first encryption key, none under another."
        )
    if sealed.undecryptable:
        line = f"{len(sealed.undecryptable)} secret(s) cannot be opened by any of the encryption keys."
        remedy = (
            f"Add the key that sealed them to {variable('encryption_keys')}; `gatepass reencrypt` names their rows."
        )
        yield Finding(False, line, remedy)
