"""What Prometheus is told: every call once, under labels that cannot grow without end."""

from prometheus_client import generate_latest

from tests.api.conftest import Door
from tests.make import House


async def test_calls_are_counted_and_timed(door: Door, house: House) -> None:
    registry = door.house.metrics.registry
    scan = {"method": "POST", "path": "/scan"}

    def told() -> tuple[float, float, float, float]:
        """Answers of 400 to a scan; scans in all; those that took no longer than a second; refusals by that code."""
        found = (
            registry.get_sample_value("gatepass_calls_total", {**scan, "status": "400", "mode": "live"}),
            registry.get_sample_value("gatepass_call_seconds_count", scan),
            registry.get_sample_value("gatepass_call_seconds_bucket", {**scan, "le": "1.0"}),
            registry.get_sample_value("gatepass_refusals_total", {"code": "invalid_request"}),
        )
        return tuple(value or 0.0 for value in found)  # type: ignore[return-value]

    before = told()
    async with door.client((await house.key()).text) as client:
        for _ in range(3):
            assert (await client.post("/scan", content=b"{}")).status_code == 400
    assert [after - since for after, since in zip(told(), before, strict=True)] == [3, 3, 3, 3]
    assert registry.get_sample_value("gatepass_calls_in_flight") == 0


async def test_a_path_that_was_made_up_is_no_label(door: Door, house: House) -> None:
    async with door.client((await house.key()).text) as client:
        await client.get("/made-up-by-a-stranger")
    assert b"made-up-by-a-stranger" not in generate_latest(door.house.metrics.registry)
