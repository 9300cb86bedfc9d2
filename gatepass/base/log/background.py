"""The standard error of a process that serves: a thread writes it, so that no call waits for whoever reads the log.

Lines wait in a bounded queue, in their order. Those that find no room, or that cannot be written, are lost and
counted; where writing goes on, a line says how many there were.
"""

import atexit
import os
import sys
from collections.abc import Iterator, Sequence
from io import TextIOBase
from select import PIPE_BUF, POLLOUT, poll
from threading import Event, Lock, RLock, Thread
from typing import Any, Final

import structlog
from prometheus_client.core import CounterMetricFamily, Metric
from prometheus_client.registry import Collector

# Characters: some 15,000 lines. A stadium's refusals of half a minute fit in.
MOST_WAITING: Final = 4 * 1024 * 1024
# Seconds for the rest when the process ends.
END_WITHIN: Final = 2.0
# Seconds between two writes. The lines of a burst share one turn of the thread, which costs as much as a line.
APART: Final = 0.01


def write_in_background() -> "LostLines":
    """From now on a thread writes what this process writes to `sys.stderr`; the metric of what is lost."""
    sys.stderr = background = Background(sys.stderr.fileno())
    atexit.register(background.end)
    return LostLines(background)


class Background(TextIOBase):
    """A text file whose `write` does not wait."""

    def __init__(self, file: int) -> None:
        self.lost = 0
        self._file = file
        # Reentrant: the garbage collector may run a finalizer inside, which logs.
        self._lock = RLock()
        self._begun = ""
        # A number stands for so many lines that were lost there.
        self._lines: list[str | int] = []
        self._waiting = 0
        self._untold = 0
        self._is_failing = False
        self._is_idle = False
        self._wake = Lock()
        self._wake.acquire()
        self._ending = Event()
        self._ended = Event()
        Thread(target=self._run, name="log", daemon=True).start()

    def write(self, text: str, /) -> int:
        with self._lock:
            if self._begun or not text.endswith("\n"):
                self._begun += text
                if text.endswith("\n"):
                    self.flush()
            else:
                self._add(text)
        return len(text)

    def flush(self) -> None:
        """Let the thread write the beginning of a line too. This does not wait for it."""
        if self._begun:
            with self._lock:
                text, self._begun = self._begun, ""
                self._add(text)

    def fileno(self) -> int:
        return self._file

    def isatty(self) -> bool:
        return os.isatty(self._file)

    def writable(self) -> bool:
        return True

    def end(self) -> None:
        """Wait until all is written, for END_WITHIN at most: nobody may be reading."""
        self.flush()
        self._ending.set()
        with self._lock:
            self._rouse()
        self._ended.wait(END_WITHIN)

    def _add(self, text: str) -> None:
        if self._waiting + len(text) > MOST_WAITING:
            self._lose(_count(text))
            return
        if self._untold:
            self._lines.append(self._untold)
            self._untold = 0
        self._lines.append(text)
        self._waiting += len(text)
        self._rouse()

    def _lose(self, count: int) -> None:
        self.lost += count
        self._untold += count

    def _rouse(self) -> None:
        if self._is_idle:
            self._is_idle = False
            self._wake.release()

    def _run(self) -> None:
        while True:
            with self._lock:
                lines, self._lines = self._lines, []
                if not lines and self._untold and not self._is_failing:
                    lines, self._untold = [self._untold], 0
                if not lines:
                    self._is_idle = True
                    if self._ending.is_set():
                        self._ended.set()
            if lines:
                self._write(lines)
                self._ending.wait(APART)
            else:
                self._wake.acquire()

    def _write(self, lines: Sequence[str | int]) -> None:
        for group in _groups(lines):
            texts = [one for one in group if isinstance(one, str)]
            told = sum(one for one in group if isinstance(one, int))
            data = "".join(one if isinstance(one, str) else _loss(one) for one in group)
            try:
                _put(self._file, data.encode(errors="backslashreplace"))
                self._is_failing = False
            except OSError:
                with self._lock:
                    self._is_failing = True
                    self._untold += told
                    self._lose(sum(map(_count, texts)))
            with self._lock:
                self._waiting -= sum(map(len, texts))


class LostLines(Collector):
    def __init__(self, background: Background) -> None:
        self._background = background

    def collect(self) -> Iterator[Metric]:
        yield CounterMetricFamily(
            "gatepass_log_lines_lost",
            "Log lines that found no room, because nobody reads the log, or that could not be written",
            self._background.lost,
        )


def _groups(lines: Sequence[str | int]) -> Iterator[list[str | int]]:
    """As many lines as the kernel writes at once into a pipe, where other processes may write too."""
    group: list[str | int] = []
    size = 0
    for line in lines:
        length = len(line) if isinstance(line, str) else PIPE_BUF
        if group and size + length > PIPE_BUF:
            yield group
            group, size = [], 0
        group.append(line)
        size += length
    yield group


def _put(file: int, data: bytes) -> None:
    while data:
        try:
            data = data[os.write(file, data) :]
        except BlockingIOError:  # whoever made the pipe has set it to non-blocking
            waiting = poll()
            waiting.register(file, POLLOUT)
            waiting.poll()


def _count(text: str) -> int:
    return text.count("\n") or 1


def _loss(count: int) -> str:
    """Its line in the log, whatever the level."""
    line: Any = structlog.wrap_logger(structlog.ReturnLogger(), wrapper_class=structlog.BoundLogger, source=__name__)
    return line.warning("lines of the log were lost here", lost=count) + "\n"
