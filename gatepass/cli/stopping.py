"""Stopping: being told to stop is the normal end of a command that goes on, not an error."""

import signal
from collections.abc import Generator
from contextlib import contextmanager, suppress


def stop_like_interrupt() -> None:
    """Let SIGTERM unwind the stack as Ctrl-C does, so that whatever was started is stopped."""
    signal.signal(signal.SIGTERM, signal.default_int_handler)


@contextmanager
def until_told_to_stop() -> Generator[None]:
    stop_like_interrupt()
    with suppress(KeyboardInterrupt):
        yield
