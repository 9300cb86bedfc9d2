"""`gatepass-health URL`: exit 0 if it answers 200. For health checks, which run every few seconds.

It is a program of its own, and imports nothing of ours: `gatepass` takes a second of a core to start, this a twentieth.
"""

import sys
from http.client import HTTPConnection, HTTPException
from typing import Final
from urllib.parse import urlsplit

# Shorter than the timeout of the health checks in deploy/, so that a failing one says why.
TIMEOUT: Final = 3.0
HEALTHY: Final = 0
UNHEALTHY: Final = 1
WRONG_USAGE: Final = 2


def run() -> None:
    """The entry point."""
    url = urlsplit(sys.argv[1]) if len(sys.argv) == 2 else None
    if url is None or url.scheme != "http" or not url.hostname:
        print("Usage: gatepass-health http://127.0.0.1:8000/readyz", file=sys.stderr)
        sys.exit(WRONG_USAGE)
    sys.exit(check(url.hostname, url.port, url.path or "/"))


def check(host: str, port: int | None, path: str) -> int:
    """Request the path and print the answer, which Docker keeps."""
    connection = HTTPConnection(host, port, timeout=TIMEOUT)
    try:
        connection.request("GET", path)
        answer = connection.getresponse()
        text = answer.read(1_000).decode(errors="replace")
    except (OSError, HTTPException) as error:
        print(f"No answer: {error}")
        return UNHEALTHY
    finally:
        connection.close()
    print(answer.status, text)
    return HEALTHY if answer.status == 200 else UNHEALTHY
