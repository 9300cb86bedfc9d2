"""The options of all commands of a gate, and its directory."""

from pathlib import Path
from typing import Annotated, Final

import typer

from gatepass_sdk.cli import profiles
from gatepass_sdk.gate import Gate

DIRECTORY_HELP: Final = "Where the gate keeps its keys and its journal."
KEY_HELP: Final = "Where the key is that encrypts them, if not in the directory."

Directory = Annotated[
    Path | None, typer.Option("--directory", "-d", metavar="DIR", file_okay=False, help=DIRECTORY_HELP)
]
KeyFile = Annotated[Path | None, typer.Option("--key-file", metavar="FILE", dir_okay=False, help=KEY_HELP)]


def directory_of(given: Path | None) -> Path:
    return given or profiles.config_folder() / "gate"


def opened(directory: Path | None, key_file: Path | None) -> Gate:
    return Gate(directory_of(directory), key_file=key_file)
