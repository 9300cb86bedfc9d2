"""What the camera reports, and when it does not look: while a result is shown, and while the page is hidden."""

import asyncio
from pathlib import Path

import pytest

from tests.browser.scanner.camera import feeds
from tests.browser.scanner.camera.conftest import Opener

pytestmark = pytest.mark.browser

# Frames of the video that come while nothing is looked at. At 30 a second it is half a second.
FRAMES_PASS = """(count) => new Promise((resolve) => {
    const next = (left) => (left === 0 ? resolve() : bench.video.requestVideoFrameCallback(() => next(left - 1)));
    next(count);
})"""
# Browsers without a window do not hide pages, so the page is told that it is hidden.
HIDE = """(isHidden) => {
    Object.defineProperty(document, "hidden", { configurable: true, get: () => isHidden });
    document.dispatchEvent(new Event("visibilitychange"));
}"""
FOUND = "(count) => bench.looks.filter((look) => look.text !== null).length >= count"
TEXT = feeds.tokens(1, seed=4)[0]


@pytest.fixture(scope="module")
def held(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """One code, which is never taken away."""
    path = tmp_path_factory.mktemp("held") / "held.mjpeg"
    return feeds.write_feed(path, [(feeds.straight, TEXT)], held=30, empty=0)


async def test_a_code_that_is_held_is_reported_once(held: Path, watching: Opener) -> None:
    page = await watching(held)
    await page.evaluate("bench.open()")
    await page.wait_for_function(FOUND, arg=20)
    assert await page.evaluate("bench.codes") == [TEXT]


async def test_a_code_is_reported_again_when_it_was_gone_for_a_second(tmp_path: Path, watching: Opener) -> None:
    feed = feeds.write_feed(tmp_path / "again.mjpeg", [(feeds.straight, TEXT)], held=20, empty=45)
    page = await watching(feed)
    await page.evaluate("bench.open()")
    await page.wait_for_function("() => bench.codes.length === 3")
    assert await page.evaluate("bench.codes") == [TEXT] * 3


async def test_nothing_is_looked_at_while_a_result_is_shown(held: Path, watching: Opener) -> None:
    page = await watching(held)
    await page.evaluate("bench.isPausedByCode = true; bench.open()")
    await page.wait_for_function("() => bench.codes.length === 1")
    looks = await page.evaluate("bench.looks.length")
    # More than the second after which a code counts as gone.
    await page.evaluate(FRAMES_PASS, 45)
    assert await page.evaluate("bench.looks.length") == looks
    await page.evaluate("bench.camera.resume()")
    await page.wait_for_function(FOUND, arg=looks + 10)
    assert await page.evaluate("bench.codes") == [TEXT], "it was there all the time: not a second guest"


async def test_nothing_is_looked_at_while_the_page_is_hidden(held: Path, watching: Opener) -> None:
    page = await watching(held)
    await page.evaluate("bench.open()")
    await page.wait_for_function(FOUND, arg=1)
    looks: int = await page.evaluate(f"({HIDE})(true); bench.looks.length")
    await page.evaluate(FRAMES_PASS, 15)
    assert await page.evaluate("bench.looks.length") == looks
    await page.evaluate(HIDE, False)
    await page.wait_for_function(FOUND, arg=looks + 5)


@pytest.mark.parametrize("stop", ["bench.camera.pause()", f"({HIDE})(true)"])
async def test_the_camera_is_let_go_after_a_while_and_taken_again(held: Path, watching: Opener, stop: str) -> None:
    page = await watching(held)
    await page.evaluate("bench.open({ rest: 0.3 })")
    await page.wait_for_function(FOUND, arg=1)
    await page.evaluate(f"globalThis.first = bench.track; {stop}")
    await page.wait_for_function("() => first.readyState === 'ended' && bench.track === null")
    looks = await page.evaluate("bench.looks.length")
    await page.evaluate(f"bench.camera.resume(); ({HIDE})(false)")
    await page.wait_for_function(FOUND, arg=looks + 5)
    assert await page.evaluate("bench.track.readyState") == "live"


async def test_a_closed_camera_leaves_nothing(held: Path, watching: Opener) -> None:
    page = await watching(held)
    await page.evaluate("bench.open()")
    await page.wait_for_function(FOUND, arg=1)
    ended = asyncio.Event()
    page.workers[0].on("close", lambda _: ended.set())
    await page.evaluate("globalThis.first = bench.track; bench.camera.close()")
    assert await page.evaluate("[first.readyState, bench.video.srcObject]") == ["ended", None]
    await asyncio.wait_for(ended.wait(), 60)


# What may happen to a camera.


async def test_a_camera_that_was_taken_away_is_opened_again(held: Path, watching: Opener) -> None:
    page = await watching(held)
    await page.evaluate("bench.open()")
    await page.wait_for_function(FOUND, arg=1)
    # A track tells its end when others end it, not when the page does.
    await page.evaluate("globalThis.first = bench.track; first.stop(); first.dispatchEvent(new Event('ended'))")
    await page.wait_for_function("() => bench.track !== null && bench.track !== first")
    await page.evaluate("bench.looks.length = 0")
    await page.wait_for_function(FOUND, arg=5)
    assert await page.evaluate("bench.faults") == []


async def test_a_camera_that_comes_back_to_nobody_is_a_fault_until_it_is_there(held: Path, watching: Opener) -> None:
    page = await watching(held)
    await page.evaluate("bench.open()")
    await page.wait_for_function(FOUND, arg=1)
    await page.evaluate("""() => {
        globalThis.real = navigator.mediaDevices.getUserMedia;
        navigator.mediaDevices.getUserMedia = async () => { throw new DOMException("taken", "NotReadableError"); };
        const track = bench.track;
        track.stop();
        track.dispatchEvent(new Event("ended"));
    }""")
    await page.wait_for_function("() => bench.faults.length === 1")
    assert await page.evaluate("bench.faults") == ["busy"]
    await page.evaluate("navigator.mediaDevices.getUserMedia = real; bench.looks.length = 0; bench.camera.resume()")
    await page.wait_for_function(FOUND, arg=5)


async def test_a_camera_without_a_picture_is_opened_again(held: Path, watching: Opener) -> None:
    page = await watching(held)
    await page.evaluate("""() => {
        const real = navigator.mediaDevices.getUserMedia.bind(navigator.mediaDevices);
        globalThis.asked = 0;
        // The first is black: a canvas on which nothing is ever drawn sends no frame.
        navigator.mediaDevices.getUserMedia = (wanted) =>
            asked++ === 0 ? Promise.resolve(document.createElement("canvas").captureStream(0)) : real(wanted);
        void bench.open();
    }""")
    await page.wait_for_function(FOUND, arg=1)
    assert await page.evaluate("asked") == 2


async def test_a_decoder_that_does_not_answer_is_replaced(held: Path, watching: Opener) -> None:
    page = await watching(held)
    await page.evaluate("bench.open({ worker: '/decoder.worker.js?dead' })")
    await page.wait_for_function(FOUND, arg=5)
    assert await page.evaluate("bench.codes") == [TEXT]
