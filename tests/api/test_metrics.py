"""Metrics: every call is counted once, and the labels are bounded."""

import re

from prometheus_client import generate_latest

from gatepass.base.errors import CAUSES
from tests.api.conftest import Api
from tests.factory import Tenant
from tests.markdown_page import Page


async def test_calls_are_counted_and_timed(api: Api, tenant: Tenant) -> None:
    registry = api.state.metrics.registry
    scan = {"method": "POST", "path": "/scan"}

    def counts() -> tuple[float, float, float, float]:
        """Scans answered with 400; all scans; those of at most a second; refusals with that code."""
        found = (
            registry.get_sample_value("gatepass_calls_total", {**scan, "status": "400", "mode": "live"}),
            registry.get_sample_value("gatepass_call_seconds_count", scan),
            registry.get_sample_value("gatepass_call_seconds_bucket", {**scan, "le": "1.0"}),
            registry.get_sample_value("gatepass_refusals_total", {"code": "invalid_request"}),
        )
        return tuple(value or 0.0 for value in found)  # type: ignore[return-value]

    before = counts()
    async with api.client((await tenant.key()).text) as client:
        for _ in range(3):
            assert (await client.post("/scan", content=b"{}")).status_code == 400
    assert [after - since for after, since in zip(counts(), before, strict=True)] == [3, 3, 3, 3]
    assert registry.get_sample_value("gatepass_calls_in_flight") == 0


async def test_a_path_that_was_made_up_is_no_label(api: Api, tenant: Tenant) -> None:
    async with api.client((await tenant.key()).text) as client:
        await client.get("/made-up-by-a-stranger")
    assert b"made-up-by-a-stranger" not in generate_latest(api.state.metrics.registry)


def test_every_cause_of_a_503_is_explained() -> None:
    rows = Page.of("docs/operate/observe.md").table("cause")
    assert sorted(cause for row in rows for cause in re.findall(r"`(\w+)`", row[0])) == sorted(CAUSES)


async def test_what_alerts_watch_begins_at_0(api: Api) -> None:
    """Prometheus does not see the first increase of a series that begins later."""
    names = [
        ("gatepass_calls_total", {"method": "POST", "path": "/scan", "status": "500", "mode": "none"}),
        ("gatepass_calls_total", {"method": "POST", "path": "/scan", "status": "503", "mode": "live"}),
        ("gatepass_refusals_total", {"code": "internal_error"}),
        *(("gatepass_unavailable_total", {"cause": cause}) for cause in CAUSES),
    ]
    assert [name for name in names if api.state.metrics.registry.get_sample_value(*name) is None] == []
