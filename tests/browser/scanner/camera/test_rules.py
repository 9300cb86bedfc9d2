"""The rules by which frames become reports: which part is looked at, how bright it is, and which code is new."""

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


async def test_the_views_of_a_frame_are_small_and_reach_all_of_it(watching: Opener) -> None:
    page = await watching(None)
    for width, height in SIZES:
        views: list[dict[str, Any]] = await page.evaluate(
            "(frame) => Array.from({ length: 12 }, (_, at) => bench.viewOf(frame, at))",
            {"width": width, "height": height},
        )
        for view in views:
            assert 0 <= view["left"] <= width - view["width"]
            assert 0 <= view["top"] <= height - view["height"]
            assert view["width"] * view["height"] / view["factor"] ** 2 <= 640 * 640
        details = [view for view in views if view["isInverted"]]
        assert 0 < len(details) < len(views) / 2
        assert all(view["factor"] == 1 for view in details)
        # The long side is seen from one end to the other.
        start, side = ("left", "width") if width > height else ("top", "height")
        assert min(view[start] for view in details) == 0
        assert max(view[start] + view[side] for view in details) >= min(max(width, height), 1920)


FORMATS = ["I420", "I420A", "I422", "I444", "NV12", "RGBA", "RGBX", "BGRA", "BGRX"]
# A frame in which each pixel is as bright as its column, as the bytes of a format.
BRIGHTNESS_OF = """async ([format, width, height]) => {
    const step = format.endsWith("A") && format !== "I420A" || format.endsWith("X") ? 4 : 1;
    const bytes = new Uint8Array(width * height * 4);
    for (let at = 0; at < width * height; at += 1) bytes.fill((at % width) / 8, at * step, (at + 1) * step);
    const frame = new VideoFrame(bytes, { format, codedWidth: width, codedHeight: height, timestamp: 0 });
    const whole = await bench.greyOf(frame, 0);
    const line = 3 * whole.pixels.width;
    const row = Array.from({ length: whole.pixels.width }, (_, x) => whole.pixels.data[(line + x) * 4]);
    const detail = await bench.greyOf(frame, 2);
    const told = [whole.view.factor, row, detail.view.left, detail.pixels.data[0]];
    frame.close();
    return told;
}"""


@pytest.mark.parametrize(("width", "height"), [(640, 480), (1280, 720), (1920, 1080)])
async def test_the_brightness_of_a_frame_of_any_format(watching: Opener, width: int, height: int) -> None:
    page = await watching(None)
    for format in FORMATS:
        factor, row, left, first = await page.evaluate(BRIGHTNESS_OF, [format, width, height])
        assert factor == width / 640
        columns = [[(column * factor + one) // 8 for one in range(factor)] for column in range(640)]
        assert row == [sum(greys) // factor for greys in columns], format
        assert first == left // 8
