"""Reading the settings from the environment, and saying what is wrong with them by the names that people set."""

from pydantic import ValidationError
from pydantic_core import ErrorDetails

from gatepass.base.settings import Settings
from gatepass.cli.trouble import WRONG_USAGE, Trouble


def read(**given: str | int | None) -> Settings:
    """The settings; what the command line gives stands above them."""
    try:
        settings = Settings(**{name: value for name, value in given.items() if value is not None})  # pyright: ignore[reportArgumentType]
    except ValidationError as error:
        wrong = [_told(one) for one in error.errors(include_url=False, include_input=False)]
        raise Trouble(*wrong, code=WRONG_USAGE) from None
    if not settings.database_url.get_secret_value().startswith(("postgresql://", "postgres://")):
        raise Trouble(
            f"{variable('database_url')}: it should look like postgresql://user:password@host:5432/database.",
            code=WRONG_USAGE,
        )
    return settings


def read_with_vault(**given: str | int | None) -> Settings:
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


def _told(error: ErrorDetails) -> str:
    field = str(error["loc"][0])
    known = Settings.model_fields.get(field)
    purpose = f" {known.description}" if known and known.description else ""
    return f"{variable(field)}: {error['msg']}.{purpose}"
