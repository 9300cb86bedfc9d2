"""Delivery attempts are traced, and receivers are told nothing of it."""

from gatepass.base.database import Database
from tests.base.tracing.otlp import PATH, spans
from tests.factory import Tenant
from tests.receivers import receiving
from tests.worker.conftest import working

SECRET = "secret-in-the-url"


async def test_each_attempt_has_a_span(own: Database, tenant: Tenant) -> None:
    async with receiving() as traces, receiving(answers=[503]) as receiver:
        async with working(own, traces_url=traces.url(PATH), traces_ratio=1.0):
            endpoint, signing_secret = await tenant.endpoint(receiver.url(f"/{SECRET}?key={SECRET}"))
            await tenant.tell(2)
            await receiver.wait(2)
        found = spans(traces)
        text = b"".join(message.body for message in traces.messages).decode()
    assert {(span.name, span.kind, span.parent_id, span.service) for span in found} == {
        ("deliver webhook", "CLIENT", "", "gatepass-worker")
    }
    failed, delivered = sorted(found, key=lambda span: span.is_failed, reverse=True)[:2]
    assert (failed.is_failed, failed.attributes["error.type"]) == (True, "503")
    assert failed.attributes["http.response.status_code"] == 503
    assert (delivered.is_failed, delivered.attributes["http.response.status_code"]) == (False, 200)
    assert delivered.attributes["gatepass.organization.id"] == str(tenant.id)
    assert delivered.attributes["gatepass.webhook.endpoint.id"] == str(endpoint)
    assert delivered.attributes["http.request.resend_count"] == 0
    assert SECRET not in text
    assert signing_secret.removeprefix("whsec_") not in text
    assert not [name for message in receiver.messages for name in message.headers if name.startswith("trace")]


async def test_the_ratio_is_that_of_the_setting(own: Database, tenant: Tenant) -> None:
    async with receiving() as traces, receiving() as receiver:
        async with working(own, traces_url=traces.url(PATH), traces_ratio=0.25):
            await tenant.endpoint(receiver.url())
            await tenant.tell(400)
            await receiver.wait(400)
        # Six standard deviations.
        assert abs(len(spans(traces)) - 100) < 6 * 9
