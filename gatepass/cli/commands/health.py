"""`gatepass-health URL`: exit 0 if it answers 200. For health checks, which ask every few seconds.

A program of its own: `gatepass` takes a second of a core to start, this a twentieth. So it imports nothing of ours.
"""

import sys
from http.client import HTTPConnection, HTTPException
from typing import Final
from urllib.parse import urlsplit

# Shorter than the timeout of the health checks in deploy/, so that a failing one says why.
PATIENCE: Final = 3.0
WELL: Final = 0
ILL: Final = 1
WRONG_USAGE: Final = 2


def run() -> None:
    """The entry point."""
    asked = urlsplit(sys.argv[1]) if len(sys.argv) == 2 else None
    if asked is None or asked.scheme != "http" or not asked.hostname:
        print("Usage: gatepass-health http://127.0.0.1:8000/readyz", file=sys.stderr)
        sys.exit(WRONG_USAGE)
    sys.exit(ask(asked.hostname, asked.port, asked.path or "/"))


def ask(host: str, port: int | None, path: str) -> int:
    """Ask, and print what was answered, since Docker keeps it."""
    connection = HTTPConnection(host, port, timeout=PATIENCE)
    try:
        connection.request("GET", path)
        answer = connection.getresponse()
        text = answer.read(1_000).decode(errors="replace")
    except (OSError, HTTPException) as error:
        print(f"No answer: {error}")
        return ILL
    finally:
        connection.close()
    print(answer.status, text)
    return WELL if answer.status == 200 else ILL
