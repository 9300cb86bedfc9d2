"""Reading the settings from the environment, and saying what is wrong with them by the names that people set."""

from typing import Any

from pydantic import ValidationError

from gatepass.base.settings import Settings
from gatepass.cli.trouble import WRONG_USAGE, Trouble


def read(**given: Any) -> Settings:
    """The settings; what the command line gives stands above them."""
    try:
        settings = Settings(**{name: value for name, value in given.items() if value is not None})
    except ValidationError as error:
        raise Trouble(*_told(error), code=WRONG_USAGE) from None
    if not settings.database_url.get_secret_value().startswith(("postgresql://", "postgres://")):
        raise Trouble(
            f"{variable('database_url')}: it should look like postgresql://user:password@host:5432/database.",
            code=WRONG_USAGE,
        )
    return settings


def read_with_vault(**given: Any) -> Settings:
    """The settings, with an encryption key that works, for commands that seal secrets."""
    settings = read(**given)
    try:
        settings.vault()
    except ValueError as error:
        raise Trouble(
            f"{variable('encryption_keys')}: {error}. `gatepass secret` makes one.", code=WRONG_USAGE
        ) from None
    return settings


def variable(field: str) -> str:
    return f"{Settings.model_config.get('env_prefix', '')}{field}".upper()


def _told(error: ValidationError) -> list[str]:
    """A line for each setting: what is wrong, and what it is for. The value may be a secret and is not repeated."""
    wrong: dict[str, list[str]] = {}
    for one in error.errors(include_url=False, include_input=False):
        wrong.setdefault(str(one["loc"][0]), []).append(one["msg"])
    return [f"{variable(field)}: {'; '.join(said)}. {_purpose(field)}".rstrip() for field, said in wrong.items()]


def _purpose(field: str) -> str:
    known = Settings.model_fields.get(field)
    return (known.description if known else None) or ""
