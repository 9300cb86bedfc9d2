"""Ctrl-C and SIGTERM, the normal end of a command that works until it is stopped.

Python raises KeyboardInterrupt wherever the program is. Raised inside a finalizer or a callback it is printed and lost,
and the command would go on for ever. So the handler also remembers it, and the command asks between two steps. It is
installed even if SIGINT was ignored, as shells have it for what they start in the background.
"""

import signal
from collections.abc import Generator
from contextlib import contextmanager, suppress
from types import FrameType


class Interruption:
    """Raised at once, and again at the next `check` if that was lost."""

    def __init__(self) -> None:
        # A plain flag: a lock could be held by the very code that the handler interrupts.
        self._came = False

    def check(self) -> None:
        if self._came:
            raise KeyboardInterrupt

    def signalled(self, _number: int, _frame: FrameType | None) -> None:
        # Only the first one is raised anywhere: a second one would break off what the end cleans up.
        if not self._came:
            self._came = True
            raise KeyboardInterrupt


@contextmanager
def until_interrupted() -> Generator[Interruption]:
    """Run the block until Ctrl-C or SIGTERM."""
    interruption = Interruption()
    signals = (signal.SIGINT, signal.SIGTERM)
    before = [signal.signal(each, interruption.signalled) for each in signals]
    try:
        with suppress(KeyboardInterrupt):
            yield interruption
    finally:
        for each, handler in zip(signals, before, strict=True):
            signal.signal(each, handler)
