import signal
import subprocess
import sys

SCRIPT = """
import signal
from gatepass.cli.output import print_whole
signal.signal(signal.SIGWINCH, lambda *_: None)
print_whole("x" * 1_000_000)
"""


def test_a_long_text_survives_signals_and_an_unbuffered_pipe() -> None:
    """A signal ends a write to a full pipe early; the rest must still be written."""
    process = subprocess.Popen([sys.executable, "-u", "-c", SCRIPT], stdout=subprocess.PIPE, bufsize=0)
    with process:
        assert process.stdout is not None
        received = 0
        while part := process.stdout.read(4096):
            received += len(part)
            if received < 900_000:
                process.send_signal(signal.SIGWINCH)
    assert (process.returncode, received) == (0, 1_000_001)
