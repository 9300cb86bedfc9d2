"""Read the settings from the environment. Errors name the variables that people set."""

import os
import re
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final
from urllib.parse import parse_qs, urlsplit

from pydantic import ValidationError

from gatepass.base.settings import PREFIX, Settings
from gatepass.cli import running_dev, variables
from gatepass.cli.errors import WRONG_USAGE, CommandError

# Options of the database URL that asyncpg and, for migrations, libpq understand alike.
OPTIONS: Final = frozenset(
    """host port dbname user password passfile application_name options target_session_attrs sslmode sslrootcert sslcert
    sslkey sslpassword sslcrl sslnegotiation ssl_min_protocol_version ssl_max_protocol_version""".split()
)
HAS_PORT: Final = re.compile(r":[^\]]*$")
SSL_MODES: Final = ("disable", "allow", "prefer", "require", "verify-ca", "verify-full")
SSL_FILES: Final = ("sslrootcert", "sslcert", "sslkey", "sslcrl")


def read_settings(**given: Any) -> Settings:
    """The settings; values from the command line override them."""
    if misspelt := list(variables.unknown()):
        raise CommandError(*misspelt, code=WRONG_USAGE)
    try:
        settings = Settings(**{name: value for name, value in given.items() if value is not None})
    except ValidationError as error:
        raise CommandError(*_lines(error), code=WRONG_USAGE) from None
    if not settings.database_url.get_secret_value().startswith(("postgresql://", "postgres://")):
        raise CommandError(
            f"{variable('database_url')}: it should look like postgresql://user:password@host:5432/database.",
            code=WRONG_USAGE,
        )
    for fault in _url_faults(settings.database_url.get_secret_value()):
        raise CommandError(f"{variable('database_url')}: {fault}", code=WRONG_USAGE)
    return _require_mail_server(settings)


def read_operator_settings() -> Settings:
    """The settings of a command that reaches the database: of the environment, or of a `gatepass dev` that runs here.

    A running `dev` gives what the environment leaves open, unless the environment names another database.
    """
    settings = read_settings()
    dev = running_dev.find(Path.cwd())
    url = variable("database_url")
    if dev is None or (
        "database_url" in settings.model_fields_set
        and settings.database_url.get_secret_value() != dev.environment.get(url)
    ):
        return settings
    missing = {name: value for name, value in dev.environment.items() if name not in set_by(settings)}
    if url in missing:
        print(f"Using the gatepass dev that runs in {dev.folder}.", file=sys.stderr)
    os.environ.update(missing)
    return read_settings()


def read_operator_settings_with_vault() -> Settings:
    return _require_vault(read_operator_settings())


def set_by(settings: Settings) -> set[str]:
    """The variables that the environment or a .env file sets."""
    return {variable(field) for field in settings.model_fields_set}


def _url_faults(url: str) -> Iterator[str]:
    """What is wrong with the options of the URL. A driver would report it later, in many lines, or not at all."""
    try:
        parts = urlsplit(url)
    except ValueError:
        yield "a bracket of its host is missing."
        return
    options = parse_qs(parts.query, keep_blank_values=True)
    ports = [host.rpartition(":")[2] for host in parts.netloc.rpartition("@")[2].split(",") if HAS_PORT.search(host)]
    if not all(_is_port(port) for port in [*ports, *",".join(options.get("port", [])).split(",")] if port):
        yield "a port is a number from 1 to 65535."
    # A name with a dot is a setting of the session, which PostgreSQL takes from anybody.
    for name in {name for name in options if "." not in name} - OPTIONS:
        yield f"the option {name} is not known here. Known are: {', '.join(sorted(OPTIONS))}."
    if options.get("sslmode", ["prefer"])[-1] not in SSL_MODES:
        yield f"sslmode is one of: {', '.join(SSL_MODES)}."
    for name in SSL_FILES:
        if name in options and not os.access(options[name][-1], os.R_OK):
            yield f"{name} does not name a file that this user can read."


def _is_port(text: str) -> bool:
    return text.isascii() and text.isdigit() and 1 <= int(text[:6]) <= 65535


def read_settings_with_vault(**given: Any) -> Settings:
    """The settings, with a valid encryption key, for commands that seal secrets."""
    return _require_wallets(_require_vault(read_settings(**given)))


def _require_vault(settings: Settings) -> Settings:
    try:
        settings.vault()
    except ValueError as error:
        raise CommandError(
            f"{variable('encryption_keys')}: {error}. `gatepass secret` makes one.", code=WRONG_USAGE
        ) from None
    return settings


def _require_mail_server(settings: Settings) -> Settings:
    if settings.smtp_url is not None:
        from gatepass.domain.mail.smtp_url import smtp_server  # noqa: PLC0415  `gatepass --help` does not wait

        try:
            smtp_server(settings.smtp_url.get_secret_value())
        except ValueError as error:
            raise CommandError(f"{variable('smtp_url')}: {error}.", code=WRONG_USAGE) from None
    return settings


def _require_wallets(settings: Settings) -> Settings:
    """A phone answers a wrong certificate with silence, so that it is told here."""
    from gatepass.domain.wallets import Wallets, WalletSettingsError  # noqa: PLC0415  `gatepass --help` does not wait

    try:
        Wallets.of(settings)
    except WalletSettingsError as error:
        raise CommandError(str(error), code=WRONG_USAGE) from None
    return settings


def variable(field: str) -> str:
    return f"{PREFIX}{field}".upper()


def _lines(error: ValidationError) -> list[str]:
    """A line for each setting: the error and the setting's purpose. The value may be a secret and is left out."""
    messages: dict[str, list[str]] = {}
    of_several: list[str] = []
    for one in error.errors(include_url=False, include_input=False):
        if one["loc"]:
            messages.setdefault(str(one["loc"][0]), []).append(one["msg"])
        else:
            of_several.append(one["msg"].removeprefix("Value error, ") + ".")
    lines = [f"{variable(field)}: {'; '.join(found)}. {_purpose(field)}".rstrip() for field, found in messages.items()]
    return lines + of_several


def _purpose(field: str) -> str:
    known = Settings.model_fields.get(field)
    return (known.description if known else None) or ""
