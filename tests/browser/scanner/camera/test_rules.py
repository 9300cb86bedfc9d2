"""The two rules by which frames become reports: which part of a frame is looked at, and which code is new."""

from typing import Any

import pytest

from tests.browser.scanner.camera.conftest import Opener

pytestmark = pytest.mark.browser

PHONE = "SVC2.PHONE.1790000000.SIGNATURE"
PHONE_LATER = "SVC2.PHONE.1790000020.SIGNATURE"
OTHER_PHONE = "SVC2.OTHER.1790000020.SIGNATURE"
SIZES = [(1280, 720), (720, 1280), (640, 480), (1920, 1080), (320, 240)]


async def test_a_code_is_new_until_it_was_seen_within_a_second(watching: Opener) -> None:
    page = await watching(None)
    steps = [
        *(("A", 0, True), ("A", 900, False), ("A", 1800, False)),
        *(("B", 1900, True), ("A", 2000, False), ("A", 3100, True)),
        *((PHONE, 4000, True), (PHONE_LATER, 4900, False), (OTHER_PHONE, 5000, True)),
    ]
    told = await page.evaluate(
        "(steps) => { const seen = new bench.Sightings(); return steps.map(([text, at]) => seen.isNew(text, at)); }",
        [[text, at] for text, at, _ in steps],
    )
    assert told == [is_new for _, _, is_new in steps]


async def test_no_view_is_larger_than_its_frame_nor_than_960_by_720(watching: Opener) -> None:
    page = await watching(None)
    for width, height in SIZES:
        views: list[dict[str, Any]] = await page.evaluate(
            "(frame) => Array.from({ length: 12 }, (_, at) => bench.viewOf(frame, at))",
            {"width": width, "height": height},
        )
        assert {view["inverted"] for view in views} == {True, False}
        for view in views:
            assert 0 <= view["left"] <= width - view["width"]
            assert 0 <= view["top"] <= height - view["height"]
            assert view["shown_width"] * view["shown_height"] <= min(960 * 720, width * height)
            assert view["shown_width"] / view["shown_height"] == pytest.approx(view["width"] / view["height"], rel=0.01)
