"""How long does a device wait for a large manifest that nobody has made yet?"""

import time
from dataclasses import dataclass
from statistics import median

import httpx2

from bench.manifest.stack import Stack
from gatepass_sdk._gate.manifest import Manifest


@dataclass
class Size:
    tickets: int
    bytes_a_ticket: float
    seconds: float
    best_seconds: float
    again_ms: float


def size(stack: Stack, rounds: int) -> Size:
    """Each round has a fresh process. The call before opens its connections, as a gate's heartbeat would."""
    times: list[float] = []
    again: list[float] = []
    body = b""
    for _ in range(rounds):
        stack.restart()
        with httpx2.Client(headers={"Authorization": f"Bearer {stack.keys[0]}"}, timeout=60) as client:
            client.get(f"{stack.api.base_url}/card/keys").raise_for_status()
            for measured in (times, again):
                began = time.monotonic()
                answer = client.get(stack.api.url + stack.path)
                measured.append(time.monotonic() - began)
                assert answer.status_code == 200, answer.text
                body = answer.content
    manifest = Manifest.read(body, stack.public_keys)
    header = len(body) - len(manifest.records)
    assert header < 4_096
    return Size(len(manifest), len(manifest.records) / len(manifest), median(times), min(times), 1000 * median(again))
