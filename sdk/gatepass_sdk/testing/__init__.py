"""A Gatepass without a network, for your unit tests.

    with FakeGatepass() as fake:
        client = fake.client()
        client.scans.create(SANDBOX_EVENT_ID, card_number="TEST_VALID")
        assert fake.scans[0].verdict == "activated"

Clients of a fake are real clients: what they send, retry, raise and read is what they do at a gate. Only the network is
missing, and what would answer behind it. Its answers are held against those of the real service, word for word.
"""

from gatepass_sdk.testing._cards import FakeCard
from gatepass_sdk.testing._fake import FakeGatepass
from gatepass_sdk.testing._scans import FakeScan

__all__ = ["FakeCard", "FakeGatepass", "FakeScan"]
