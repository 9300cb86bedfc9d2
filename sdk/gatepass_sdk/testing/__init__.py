"""A Gatepass without a network, for your unit tests.

    with FakeGatepass() as fake:
        client = fake.client()
        client.scans.create(SANDBOX_EVENT_ID, card_number="TEST_VALID")
        assert fake.scans[0].verdict == "activated"

Clients of a fake are real clients: they send, retry, raise and read as they do at a gate. Only the network and the
service behind it are replaced. The tests compare the fake's answers with those of the real service, word for word.
"""

from gatepass_sdk.testing._fake import FakeGatepass
from gatepass_sdk.testing._platform.records import FakeCard
from gatepass_sdk.testing._state import FakeScan

__all__ = ["FakeCard", "FakeGatepass", "FakeScan"]
