"""Cover pictures: uploaded, public, refused."""

import re

import pytest

from gatepass.studio.middleware import Middleware
from tests.pictures import png
from tests.studio.browser_session import BrowserSession, browser
from tests.studio.events.drafts import found


async def test_a_cover_is_uploaded_shown_to_all_and_taken_away(user: BrowserSession, studio: Middleware) -> None:
    here, picture = f"events/{user.tenant.event_id}/cover", png(320, 180)
    page = await user.follow(await user.send(here, files={"cover": ("evil.html", picture, "text/html")}))
    (path,) = set(re.findall(r'src="(/covers/[^"]+)"', page))
    async with browser(studio) as anybody:
        answer = await anybody.get(path)
        assert answer.content == picture
        named = path.replace("/covers/", "/covers/a.")
        assert (await anybody.get(named)).content == picture, "as the API names it, for the edge"
        assert (await anybody.get(named.replace("a.", "a.a."))).status_code == 404
        assert answer.headers["content-type"] == "image/png"
        assert answer.headers["content-security-policy"] == "default-src 'none'; sandbox"
        assert answer.headers["x-content-type-options"] == "nosniff"
        assert "immutable" in answer.headers["cache-control"]
        assert answer.headers["cross-origin-resource-policy"] == "cross-origin"
        again = await anybody.get(path, headers={"If-None-Match": answer.headers["etag"]})
        assert (again.status_code, again.content) == (304, b"")
        assert (await anybody.get(path.replace(".png", ".jpg"))).status_code == 404
        assert (await anybody.get(path.replace(".png", ".html"))).status_code == 404
        assert (await anybody.head(path)).status_code == 200
        await user.send(here)
        assert (await anybody.get(path)).status_code == 404
    assert (await found(user, user.tenant.event_id)).event.cover_url is None


@pytest.mark.parametrize(
    ("content", "sentence"),
    [
        (b"<svg onload=alert(1)>", "not a PNG, JPEG or WebP"),
        (png(20, 20), "20 by 20 pixels"),
        (b"\x89PNG" + b"\x00" * (2 * 1024 * 1024), "larger than 2 MB"),
        (b"\x00" * (4 * 1024 * 1024), "larger than 2 MB"),
    ],
    ids=["no picture", "small", "a little too large", "much too large"],
)
async def test_what_is_no_cover_is_refused(user: BrowserSession, content: bytes, sentence: str) -> None:
    here = f"events/{user.tenant.event_id}/cover"
    answer = await user.send(here, status=422, files={"cover": ("a.png", content, "image/png")})
    assert sentence in answer.text


async def test_a_cover_elsewhere_is_named_and_not_asked_for(user: BrowserSession) -> None:
    here = f"events/{user.tenant.event_id}/cover"
    for bad in ("http://example.com/a.png", "javascript:alert(1)", "//example.com/a.png"):
        answer = await user.send(here, status=422, cover_url=bad)
        assert "begins with https://" in answer.text
    page = await user.follow(await user.send(here, cover_url="https://example.com/a.png"))
    assert "https://example.com/a.png" in page
    assert "<img" not in page.partition("<main")[2]
