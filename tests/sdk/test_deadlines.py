"""A deadline is for a whole call: the time that one step takes is missing for the next."""

import socket
import threading
import time
from collections.abc import Generator

import httpx2
import pytest

from gatepass_sdk import SANDBOX_EVENT_ID, APITimeoutError, Gatepass
from tests.size import NIGHT

pytestmark = pytest.mark.alone


@pytest.fixture
def silence() -> Generator[str]:
    """A server that accepts connections and never answers."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        yield f"http://127.0.0.1:{server.getsockname()[1]}"


def test_the_wait_for_a_connection_is_taken_from_the_wait_for_the_answer(silence: str) -> None:
    with httpx2.Client(limits=httpx2.Limits(max_connections=1)) as http:
        client = Gatepass("svc_test_x", base_url=silence, max_retries=0, http_client=http)
        first = threading.Thread(target=seconds_of_a_scan, args=[client, 1.0])
        first.start()
        while not http._transport._pool.connections:  # type: ignore[attr-defined]
            time.sleep(0.001)
        # It gets the connection after one second. With a timeout per step it would then read for another 1.5 seconds.
        took = seconds_of_a_scan(client, 1.5)
        assert took > 1.4
        if NIGHT:
            assert took < 2.0
        first.join()


def seconds_of_a_scan(client: Gatepass, deadline: float) -> float:
    began = time.monotonic()
    with pytest.raises(APITimeoutError):
        client.with_options(scan_deadline=deadline).scans.create(SANDBOX_EVENT_ID, card_number="TEST_VALID")
    return time.monotonic() - began
