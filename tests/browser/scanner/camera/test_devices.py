"""Which camera, its torch, and the codes of what goes wrong."""

from pathlib import Path

import pytest

from tests.browser.scanner.camera import feeds
from tests.browser.scanner.camera.conftest import TWO_CAMERAS, Opener
from tests.browser.scanner.camera.site import Site

pytestmark = pytest.mark.browser

REFUSING = """(name) => {
    navigator.mediaDevices.getUserMedia = async () => { throw new DOMException("", name); };
    return bench.open();
}"""


@pytest.fixture(scope="module")
def feed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("feed") / "feed.mjpeg"
    return feeds.write_feed(path, [(feeds.straight, feeds.tokens(1, seed=5)[0])], held=10, empty=0)


async def test_one_of_several_is_chosen(watching: Opener) -> None:
    page = await watching(None, *TWO_CAMERAS)
    await page.evaluate("bench.open()")
    first, second = await page.evaluate("bench.camera.cameras()")
    assert await page.evaluate("bench.camera.id") == first["id"]
    assert first["label"] != second["label"]
    await page.evaluate("(id) => bench.camera.choose(id)", second["id"])
    assert await page.evaluate("bench.camera.id") == second["id"]
    await page.evaluate("bench.looks.length = 0")
    await page.wait_for_function("() => bench.looks.length > 3")


async def test_one_that_was_chosen_before_is_opened_and_one_that_is_gone_is_not_missed(watching: Opener) -> None:
    page = await watching(None, *TWO_CAMERAS)
    await page.evaluate("bench.open()")
    first, second = await page.evaluate("bench.camera.cameras()")
    await page.evaluate("(id) => { bench.camera.close(); return bench.open({ id }); }", second["id"])
    assert await page.evaluate("bench.camera.id") == second["id"]
    await page.evaluate("bench.camera.close(); bench.open({ id: 'unplugged' })")
    await page.wait_for_function("() => bench.camera.id !== null")
    assert await page.evaluate("bench.camera.id") == first["id"]


async def test_the_torch(feed: Path, watching: Opener) -> None:
    page = await watching(feed)
    await page.evaluate("bench.open({ rest: 0.1 })")
    assert await page.evaluate("[bench.camera.hasTorch, bench.camera.torch]") == [False, False]
    # No fake camera has a torch: this one is given one, and remembers what it is told.
    await page.evaluate("""() => {
        globalThis.told = [];
        MediaStreamTrack.prototype.getCapabilities = () => ({ torch: true });
        MediaStreamTrack.prototype.applyConstraints = async (wanted) => { told.push(wanted); };
    }""")
    await page.evaluate("bench.camera.setTorch(true)")
    assert await page.evaluate("[bench.camera.hasTorch, bench.camera.torch]") == [True, True]
    assert await page.evaluate("told") == [{"advanced": [{"torch": True}]}]
    await page.evaluate("bench.camera.pause()")
    await page.wait_for_function("() => bench.track === null")
    await page.evaluate("bench.camera.resume()")
    await page.wait_for_function("() => told.length === 2")
    assert (await page.evaluate("told"))[1] == {"advanced": [{"torch": True}]}, "it is lit again after a rest"
    await page.evaluate("bench.camera.setTorch(false)")
    assert await page.evaluate("bench.camera.torch") is False


async def test_no_camera(watching: Opener) -> None:
    page = await watching(None, "--use-fake-ui-for-media-stream")
    assert await page.evaluate("bench.open()") == "none"


async def test_a_person_who_refuses(watching: Opener) -> None:
    page = await watching(None, "--use-fake-device-for-media-stream", "--deny-permission-prompts")
    assert await page.evaluate("bench.open()") == "denied"


@pytest.mark.parametrize(
    ("name", "code"),
    [("NotReadableError", "busy"), ("AbortError", "busy"), ("SecurityError", "denied"), ("TypeError", "busy")],
)
async def test_what_else_goes_wrong(feed: Path, watching: Opener, name: str, code: str) -> None:
    page = await watching(feed)
    assert await page.evaluate(REFUSING, name) == code


async def test_a_page_without_tls(feed: Path, watching: Opener, site: Site) -> None:
    elsewhere = site.origin.replace("localhost", "gate.test")
    page = await watching(feed, "--host-resolver-rules=MAP gate.test 127.0.0.1", at=elsewhere)
    assert await page.evaluate("bench.open()") == "insecure"
