"""A command with its time and the CPU seconds of all its descendants: `python -m tools.suites.timed FILE COMMAND…`.

A process of its own measures each command, because two may run at once. It adopts what the command leaves behind, so
that a daemon counts too, and ends what is still there afterwards.
"""

import ctypes
import json
import os
import resource
import signal
import subprocess
import sys
import time
from pathlib import Path

ADOPT_ORPHANS = 36  # PR_SET_CHILD_SUBREAPER
# Seconds that a server which the command has just stopped may take to end.
LEFT_BEHIND_WITHIN = 5.0


def main(result: Path, command: list[str]) -> int:
    ctypes.CDLL(None).prctl(ADOPT_ORPHANS, 1, 0, 0, 0)
    # Whoever runs in the background ignores Ctrl-C, and what it starts would too: tests send it.
    signal.signal(signal.SIGINT, signal.default_int_handler)
    signal.signal(signal.SIGQUIT, signal.SIG_DFL)
    begun = time.monotonic()
    process = subprocess.Popen(command)
    code = _wait(process.pid)
    wall = time.monotonic() - begun
    _end_the_rest()
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    result.write_text(
        json.dumps({"code": code, "wall": round(wall, 1), "cpu": round(used.ru_utime + used.ru_stime, 1)})
    )
    return code


def _wait(pid: int) -> int:
    """Wait for this one, and for whatever else ends meanwhile."""
    while True:
        ended, status = os.wait()
        if ended == pid:
            return os.waitstatus_to_exitcode(status)


def _end_the_rest() -> None:
    deadline = time.monotonic() + LEFT_BEHIND_WITHIN
    while True:
        try:
            ended, _ = os.waitpid(-1, os.WNOHANG)
        except ChildProcessError:
            return
        if ended:
            continue
        if time.monotonic() > deadline:
            for pid in _children():
                os.kill(pid, signal.SIGKILL)
        time.sleep(0.05)


def _children() -> list[int]:
    return [int(pid) for pid in Path(f"/proc/{os.getpid()}/task/{os.getpid()}/children").read_text().split()]


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1]), sys.argv[2:]))
