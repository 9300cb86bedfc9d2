"""The console that every bench prints to."""

import sys

from rich.console import Console

# Wider than every table. For a pipe rich assumes 80 columns, and shortens the cells until they fit.
LEAST_WIDTH = 180


def wide_console() -> Console:
    """Tables are whole, also in a pipe or a narrow terminal. Only a terminal gets colours."""
    return Console(width=max(Console().width, LEAST_WIDTH), force_terminal=sys.stdout.isatty())
