"""A gate that scans all the time, in a process of its own, and notes how long each answer took.

    python -m tests.scan_probe PORT KEY EVENT_ID CARD_NUMBER PAUSE

It prints a line for each scan: when it began, how long it took, and the status. The clock is the machine's, so that a
test can look up what it did meanwhile.
"""

import json
import signal
import socket
import subprocess
import sys
import threading
import time
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from typing import Self
from uuid import UUID

ROOT = Path(__file__).parents[1]
TIMEOUT = 60.0
MOST_MORE = 20.0


@dataclass(frozen=True)
class ProbedScan:
    at: float
    seconds: float
    status: int


class ScanProbe:
    """`with ScanProbe(…) as probe`; after the block `scans` is complete."""

    def __init__(self, port: int, key: str, event_id: UUID, card_number: str, *, pause: float = 0.01) -> None:
        self._command = [
            sys.executable,
            "-m",
            "tests.scan_probe",
            str(port),
            key,
            str(event_id),
            card_number,
            str(pause),
        ]
        self.scans: list[ProbedScan] = []

    def __enter__(self) -> Self:
        self._process = subprocess.Popen(self._command, cwd=ROOT, stdout=subprocess.PIPE, text=True)
        assert self._process.stdout is not None
        assert self._process.stdout.readline() == "ready\n"
        # It is read all the time: a full pipe would stop the gate.
        self._reader = threading.Thread(target=self._collect, daemon=True)
        self._reader.start()
        return self

    def _collect(self) -> None:
        assert self._process.stdout is not None
        for line in self._process.stdout:
            self.scans.append(ProbedScan(*json.loads(line)))

    def __exit__(self, *_: object) -> None:
        self._process.send_signal(signal.SIGINT)
        assert self._process.wait(TIMEOUT) == 0, "the gate ended before it was told to"
        self._reader.join()
        assert self._process.stdout is not None
        self._process.stdout.close()

    def within(self, began: float, ended: float) -> list[float]:
        """Milliseconds of the scans that were under way between these times."""
        return [scan.seconds * 1000 for scan in self.scans if scan.at < ended and scan.at + scan.seconds > began]


def p99(milliseconds: list[float]) -> float:
    """By nearest rank. Of few scans it is the slowest."""
    assert milliseconds, "no scan was under way"
    ranked = sorted(milliseconds)
    return ranked[-(-len(ranked) * 99 // 100) - 1]


def is_small_delay(alone: list[float], meanwhile: list[float]) -> bool:
    """Whether p99 of scans is at most twice what it is alone, or 20 ms more, by the medians of the rounds."""
    usual = median(alone)
    return median(meanwhile) <= max(2 * usual, usual + MOST_MORE)


def main() -> None:
    port, key, event_id, card_number, pause = sys.argv[1:]
    body = json.dumps({"event_id": event_id, "card_number": card_number}).encode()
    request = (
        f"POST /api/public/v1/scan HTTP/1.1\r\nHost: gate\r\nAuthorization: Bearer {key}\r\n"
        f"Content-Type: application/json\r\nContent-Length: {len(body)}\r\n\r\n"
    ).encode() + body
    connection = socket.create_connection(("127.0.0.1", int(port)), timeout=TIMEOUT)
    stopped = threading.Event()
    # A scan that waits is noted too: it may be the slowest.
    signal.signal(signal.SIGINT, lambda *_: stopped.set())
    print("ready", flush=True)
    while not stopped.is_set():
        began = time.monotonic()
        connection.sendall(request)
        status = _status(connection)
        print(json.dumps([began, time.monotonic() - began, status]))
        stopped.wait(float(pause))


def _status(connection: socket.socket) -> int:
    """The status of one answer, which has a Content-Length."""
    answer = b""
    while b"\r\n\r\n" not in answer:
        answer += _received(connection)
    head, _, body = answer.partition(b"\r\n\r\n")
    length = int(head.lower().partition(b"content-length:")[2].split()[0])
    while len(body) < length:
        body += _received(connection)
    return int(head.split()[1])


def _received(connection: socket.socket) -> bytes:
    data = connection.recv(65536)
    if not data:
        raise ConnectionError("the server closed the connection")
    return data


if __name__ == "__main__":
    main()
