"""A first scan: as a command to paste, and as the same call made from here."""

import http.client
import json
from shlex import quote
from typing import Final
from urllib.parse import urlsplit

TIMEOUT: Final = 10


def scan_command(base_url: str, key: str, event_id: str, card_number: str) -> str:
    body = json.dumps({"event_id": event_id, "card_number": card_number})
    return (
        f"curl -X POST {base_url}/scan \\\n"
        f"  -H 'Authorization: Bearer {key}' \\\n"
        f"  -H 'Content-Type: application/json' \\\n"
        f"  -d {quote(body)}"
    )


def scan(base_url: str, key: str, event_id: str, card_number: str) -> tuple[int, str]:
    """The status and the body of the answer."""
    url = urlsplit(base_url)
    connection = http.client.HTTPConnection(url.hostname or "", url.port, timeout=TIMEOUT)
    try:
        body = json.dumps({"event_id": event_id, "card_number": card_number})
        headers = {"Authorization": f"Bearer {key}", "Content-Type": "application/json"}
        connection.request("POST", f"{url.path}/scan", body, headers)
        answer = connection.getresponse()
        return answer.status, answer.read().decode()
    finally:
        connection.close()
