"""One kind of call fails while the others get through, and words that this version does not know."""

import threading

import pytest

from gatepass.domain import devices
from gatepass_sdk import DeviceRevoked, Gate, RateLimited
from gatepass_sdk.errors import QueueError
from tests.sdk.gate.network import Network, State
from tests.sdk.gate.test_ending import by_a_lead
from tests.sdk.gate.test_following import wait_until_known
from tests.sdk.gate.venue import Venue

FAULT = (500, {"error": "A fault.", "code": "internal_error"})


@pytest.mark.parametrize("status", [400, 404, 409, 410, 422])
def test_a_refusal_of_a_later_version_is_red(venue: Venue, gate: Gate, network: Network, status: int) -> None:
    guest = venue.guest()
    venue.known(gate, guest)
    network.instead["/scan"] = (status, {"error": "This is for tomorrow.", "code": "tomorrow"})
    shown = gate.scan(guest.token)
    assert (shown.colour, shown.verdict, shown.online) == ("red", "tomorrow", True)
    assert gate.status().waiting == 0


@pytest.mark.parametrize(
    ("path", "answer"),
    [("/manifest", FAULT), ("/manifest/stream", (400, {"error": "No streams here.", "code": "invalid_request"}))],
)
def test_a_list_that_cannot_be_followed_takes_no_gate_offline(
    venue: Venue, gate: Gate, network: Network, path: str, answer: tuple[int, dict[str, str]]
) -> None:
    network.instead[path] = answer
    stop = threading.Event()
    following = threading.Thread(target=gate.follow, args=[stop])
    following.start()
    network.wait_until_sent(path, times=2)
    assert gate.status().offline_since is None
    assert gate.scan(venue.guest().token).online
    stop.set()
    gate._paired.manifests.stop()
    following.join()


def test_a_service_that_says_slower_is_there(gate: Gate, network: Network) -> None:
    network.becomes(State.DOWN)
    gate.scan("SVC 0000 0000 0000")
    assert gate.status().offline_since is not None
    network.becomes(State.UP)
    network.instead["/devices/heartbeat"] = (429, {"error": "Slower.", "code": "rate_limited"})
    with pytest.raises(RateLimited):
        gate.heartbeat()
    assert gate.status().offline_since is None


def test_a_disk_that_is_full_once_ends_no_following(
    venue: Venue, gate: Gate, network: Network, monkeypatch: pytest.MonkeyPatch
) -> None:
    keep, times = gate._store.database.keep_manifest, list[int]()

    def full_once(part: int, body: bytes) -> None:
        times.append(part)
        if len(times) == 1:
            raise QueueError("The disk is full.")
        keep(part, body)

    monkeypatch.setattr(gate._store.database, "keep_manifest", full_once)
    with gate.working():
        for _ in range(2):
            wait_until_known(gate, venue.guest(), used=False)
    assert len(times) > 1


def test_a_late_word_to_the_old_key_does_not_end_a_device_that_was_paired_again(venue: Venue, gate: Gate) -> None:
    old = gate._paired
    old.end()
    by_a_lead(venue, gate, devices.revoke)
    with pytest.raises(DeviceRevoked):
        old.heartbeat()
    assert old.device.status == "paired"
    device = gate._store.device
    assert device is not None
    assert device.status == "paired"
