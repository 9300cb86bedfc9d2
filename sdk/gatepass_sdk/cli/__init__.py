"""`gatepass-cli`: Gatepass from a terminal, over HTTP only. It needs the extra: `pip install "gatepass-sdk[cli]"`."""

import sys
from importlib.util import find_spec


def run() -> None:
    """The entry point. It exists without the extra too."""
    if find_spec("typer") is None:
        sys.exit(_print_missing_extra())
    from gatepass_sdk.cli.main import run as run_command  # noqa: PLC0415  typer is optional

    run_command()


def _print_missing_extra() -> int:
    print('The command line needs more than the library: pip install "gatepass-sdk[cli]"', file=sys.stderr)
    return 2
