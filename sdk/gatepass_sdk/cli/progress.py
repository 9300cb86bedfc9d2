"""A progress bar on stderr, if that is a terminal."""

import os
import sys
from collections.abc import Callable, Generator
from contextlib import contextmanager


@contextmanager
def bar(label: str, total: int, *, wanted: bool = True) -> Generator[Callable[[int], None]]:
    """A function that moves the bar to the given count."""
    if not wanted or not sys.stderr.isatty():
        yield lambda _done: None
        return
    # Loading rich takes longer than a scan.
    from rich.console import Console  # noqa: PLC0415
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn  # noqa: PLC0415

    console = Console(stderr=True, no_color=bool(os.environ.get("NO_COLOR")))
    columns = (TextColumn(label), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    # Lines printed meanwhile appear above the bar, unless they go to a file.
    with Progress(*columns, console=console, transient=True, redirect_stdout=sys.stdout.isatty()) as shown:
        task = shown.add_task(label, total=total)
        yield lambda done: shown.update(task, completed=done)
