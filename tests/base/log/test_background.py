"""A thread writes the log: in order, all of it at a normal end, and what found no room is told where it was."""

import json
import os
import subprocess
import sys
import time
from collections.abc import Callable, Generator
from fcntl import F_SETPIPE_SZ, fcntl
from typing import IO

import pytest

from gatepass.base.log import background
from gatepass.base.log.background import Background, LostLines

pytestmark = pytest.mark.processes

PATIENCE = 60.0
PIPE = 4096
FULL = b"." * PIPE
START = """
import signal, sys
from gatepass.base import log
from gatepass.base.log.background import write_in_background
write_in_background()
log.configure("error", "json")
line = log.logger("test").error
"""


def run(program: str, stderr: int | IO[bytes] = subprocess.PIPE) -> subprocess.CompletedProcess[bytes]:
    command = [sys.executable, "-c", START + program]
    return subprocess.run(command, stdout=subprocess.PIPE, stderr=stderr, timeout=PATIENCE, check=False)


@pytest.fixture
def pipe() -> Generator[tuple[int, int]]:
    """One that holds a page."""
    reader, writer = os.pipe()
    fcntl(writer, F_SETPIPE_SZ, PIPE)
    yield reader, writer
    os.close(reader)  # whoever waits for it to be read goes on
    os.close(writer)


def until(condition: Callable[[], bool]) -> None:
    deadline = time.monotonic() + PATIENCE
    while not condition():
        assert time.monotonic() < deadline
        time.sleep(0.002)


def test_all_lines_are_there_and_in_order_when_the_process_has_ended() -> None:
    done = run("for n in range(20000): line('refused', n=n)")
    assert done.returncode == 0
    assert [json.loads(text)["n"] for text in done.stderr.splitlines()] == [*range(20000)]


def test_a_crash_is_told_after_the_lines_before_it() -> None:
    done = run("for n in range(100): line('refused', n=n)\nraise ValueError('this is the end')")
    lines = done.stderr.decode().splitlines()
    assert done.returncode == 1
    assert [json.loads(text)["n"] for text in lines[:100]] == [*range(100)]
    assert (lines[100], lines[-1]) == ("Traceback (most recent call last):", "ValueError: this is the end")


def test_a_crash_of_a_thread_and_a_warning_of_python_are_told_too() -> None:
    done = run("import threading, warnings\nthreading.Thread(target=lambda: 1 / 0).start()\nwarnings.warn('old')")
    assert b"ZeroDivisionError: division by zero\n" in done.stderr
    assert b"UserWarning: old\n" in done.stderr


@pytest.mark.parametrize("end", ["", "raise ValueError", "sys.exit('told')"])
def test_a_process_ends_although_nobody_reads_its_log(pipe: tuple[int, int], end: str) -> None:
    done = run(f"for n in range(1000): line('refused', n=n)\nprint('all')\n{end}", pipe[1])
    assert (done.returncode, done.stdout) == (1 if end else 0, b"all\n")
    begun = os.read(pipe[0], PIPE).splitlines()
    assert [json.loads(text)["n"] for text in begun[:5]] == [0, 1, 2, 3, 4]


def test_a_process_goes_on_when_its_reader_has_died_or_its_disk_is_full() -> None:
    reader, writer = os.pipe()
    os.close(reader)
    for file in (writer, os.open("/dev/full", os.O_WRONLY)):
        done = run("for n in range(1000): line('refused', n=n)\nprint('all')", file)
        os.close(file)
        assert (done.returncode, done.stdout) == (0, b"all\n")


def lost(of: Background) -> float:
    (metric,) = LostLines(of).collect()
    (sample,) = metric.samples
    assert sample.name == "gatepass_log_lines_lost_total"
    return sample.value


def test_lines_without_room_are_counted_and_told_where_they_were(
    pipe: tuple[int, int], monkeypatch: pytest.MonkeyPatch
) -> None:
    reader, writer = pipe
    monkeypatch.setattr(background, "MOST_WAITING", 1000)
    os.write(writer, FULL)
    log = Background(writer)
    for n in range(4000):
        print(f"{n:09}", file=log)
    assert lost(log) == 3900

    with open(reader, "rb", closefd=False) as reading:
        assert reading.read(PIPE) == FULL
        assert [reading.readline() for _ in range(100)] == [b"%09d\n" % n for n in range(100)]
        told = json.loads(reading.readline())
        assert (told["level"], told["event"], told["lost"]) == ("warning", "lines of the log were lost here", 3900)
        print("later", file=log)
        assert reading.readline() == b"later\n"
    assert lost(log) == 3900


def test_lines_that_cannot_be_written_are_counted_and_told_when_it_works_again(tmp_path) -> None:
    """The disk is full, and then it is not."""
    full = os.open("/dev/full", os.O_WRONLY)
    log = Background(full)
    for count in (1, 2, 3):
        print("x", file=log)
        until(lambda count=count: lost(log) == count)
    disk = os.open(tmp_path / "log", os.O_WRONLY | os.O_CREAT)
    os.dup2(disk, full)
    print("later", file=log)
    log.end()
    told, later = (tmp_path / "log").read_text().splitlines()
    assert (json.loads(told)["lost"], later) == (3, "later")
    assert lost(log) == 3
    os.close(full)
    os.close(disk)


def test_a_pipe_that_somebody_has_set_to_non_blocking_gets_all(pipe: tuple[int, int]) -> None:
    reader, writer = pipe
    os.set_blocking(writer, False)
    log = Background(writer)
    for n in range(2000):
        print(f"{n:09}", file=log)
    with open(reader, closefd=False) as reading:
        assert [reading.readline() for _ in range(2000)] == [f"{n:09}\n" for n in range(2000)]
    assert lost(log) == 0


def test_the_beginning_of_a_line_waits_for_its_end_or_for_a_flush(pipe: tuple[int, int]) -> None:
    log = Background(pipe[1])
    log.write("one ")
    log.write("line\n")
    log.write("? ")
    log.flush()
    log.end()
    assert os.read(pipe[0], PIPE) == b"one line\n? "
