"""Keeps one program running, as systemd does with `Restart=always`.

    python supervisor.py PID_FILE SECONDS PROGRAM [ARGUMENT...]

It writes the pid of the program, starts it again so many seconds after its end, and reaps the orphans that it leaves.
"""

import ctypes
import os
import subprocess
import sys
import time
from pathlib import Path

PR_SET_CHILD_SUBREAPER = 36


def main(pid_file: Path, seconds: float, command: list[str]) -> None:
    ctypes.CDLL(None).prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
    while True:
        program = subprocess.Popen(command)
        pid_file.write_text(str(program.pid))
        while os.wait()[0] != program.pid:
            pass
        print(f"supervisor: {command[0]} ended", flush=True)
        time.sleep(seconds)


if __name__ == "__main__":
    main(Path(sys.argv[1]), float(sys.argv[2]), sys.argv[3:])
