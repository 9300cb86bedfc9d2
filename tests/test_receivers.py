"""The receiver in a process of its own: its log is what was sent to it."""

import asyncio
from pathlib import Path

import pytest

from gatepass.base.wire_constants import ATTEMPT_HEADER, DELIVERY_HEADER
from gatepass.worker.sender import Sender
from tests.receivers import authority, receiver_process


@pytest.mark.parametrize("tls", [False, True])
async def test_a_message_is_on_disk_before_it_is_answered(tls: bool, tmp_path: Path) -> None:
    log = tmp_path / "received"
    sender = Sender(allow_private=True, tls=authority().client())
    with receiver_process(tls=authority() if tls else None, log=log) as receiver:

        async def send(number: int) -> bool:
            headers = {"webhook-id": f"evt_{number}", ATTEMPT_HEADER: "1", DELIVERY_HEADER: f"d{number}"}
            return (await sender.send(receiver.url, lambda: headers, b"x" * number * 100)).succeeded

        assert all(await asyncio.gather(*[send(number) for number in range(200)]))
        assert receiver.count() == 200
        receiver.stop()
        received = receiver.received()
    await sender.close()
    assert len(received) == 200
    assert {(event, attempt, delivery) for event, attempt, delivery, _ in received} == {
        (f"evt_{number}", 1, f"d{number}") for number in range(200)
    }


async def test_it_can_refuse_be_slow_or_hang() -> None:
    sender = Sender(allow_private=True, deadline=0.5)
    with (
        receiver_process(options=["--status", "503"]) as refusing,
        receiver_process(options=["--delay", "0.1"]) as slow,
        receiver_process(options=["--hang"]) as hanging,
    ):
        refused, late, never = [await sender.send(each.url, dict, b"{}") for each in (refusing, slow, hanging)]
    await sender.close()
    assert (refused.status, late.status, never.status) == (503, 200, None)
    assert late.total_ms > 90
