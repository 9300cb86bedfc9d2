"""Cover pictures: what is no picture is refused at once, and what is taken can do nothing but be shown."""

import gzip
import re
import struct
import zlib

import httpx2
import pytest

from bench import cpu
from gatepass.domain.events.image_format import MOST_BYTES
from tests.attacks.target import Target
from tests.pictures import jpeg, png, webp_extended, webp_lossless, webp_lossy

SVG = b'<svg xmlns="http://www.w3.org/2000/svg" onload="alert(1)"><script>alert(1)</script></svg>'
PNG_HEAD = b"\x89PNG\r\n\x1a\n"
NONE = "not a PNG, JPEG or WebP picture"
SIZE = "pixels"


def filled(head: bytes, unit: bytes) -> bytes:
    """The largest file that is looked at."""
    return (head + unit * MOST_BYTES)[:MOST_BYTES]


def with_size(width: int, height: int) -> bytes:
    """A PNG whose head claims this size."""
    head = struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)
    return PNG_HEAD + b"\x00\x00\x00\rIHDR" + head + b"\x00" * 40 + b"\x00\x00\x00\x00IEND\xaeB`\x82"


REFUSED = {
    "FF only": (filled(b"\xff\xd8\xff", b"\xff"), NONE),
    "restart markers": (filled(b"\xff\xd8\xff", b"\xd0\xff"), NONE),
    "segments of no length": (filled(b"\xff\xd8", b"\xff\xe0\x00\x00"), NONE),
    "segments of two bytes": (filled(b"\xff\xd8", b"\xff\xe0\x00\x02"), NONE),
    "segments of one byte": (filled(b"\xff\xd8", b"\xff\xe0\x00\x01"), NONE),
    "a JPEG that never begins": (b"\xff\xd8\xff", NONE),
    "a JPEG cut in its frame": (jpeg(200, 200)[:60], NONE),
    "a segment beyond the end": (b"\xff\xd8\xff\xe0\xff\xff" + b"x" * 100, NONE),
    "a JPEG of no width": (jpeg(0, 200), SIZE),
    "a JPEG of the largest size": (jpeg(65_535, 65_535), SIZE),
    "a PNG head only": (PNG_HEAD, NONE),
    "a PNG without its end": (png(200, 200)[:-12], NONE),
    "a PNG with a script behind its end": (png(200, 200) + b"<script>alert(1)</script>", NONE),
    "a PNG of no size": (with_size(0, 0), SIZE),
    "a PNG of 4 gigapixels": (with_size(65_535, 65_535), SIZE),
    "a PNG with the largest numbers": (with_size(2**32 - 1, 2**32 - 1), SIZE),
    "a PNG that unpacks to much": (with_size(30_000, 30_000) + zlib.compress(b"\0" * 9_000_000), NONE),
    "a WebP head only": (b"RIFF\x00\x00\x00\x00WEBP", NONE),
    "a WebP that claims more bytes": (b"RIFF\xff\xff\xff\xffWEBPVP8 " + b"\0" * 50, NONE),
    "a WebP of unknown chunks": (b"RIFF\x20\x00\x00\x00WEBPABCD" + b"\0" * 50, NONE),
    "a WebP of 16 megapixels each way": (webp_extended(2**24, 2**24), SIZE),
    "a WebP with a bad signature": (webp_lossless(200, 200).replace(b"\x2f", b"\x2e"), NONE),
    "a lossy WebP of no size": (webp_lossy(0, 0), SIZE),
    "SVG": (SVG, NONE),
    "SVG with an XML head": (b'<?xml version="1.0"?>' + SVG, NONE),
    "gzipped SVG": (gzip.compress(SVG), NONE),
    "HTML": (b"<!doctype html><script>alert(1)</script>", NONE),
    "a GIF": (b"GIF89a\xc8\x00\xc8\x00" + b"\0" * 40, NONE),
    "a GIF that is a script": (b"GIF89a/*\0*/=1;alert(1)//", NONE),
    "a BMP": (b"BM" + b"\0" * 100, NONE),
    "a TIFF": (b"II*\0" + b"\0" * 100, NONE),
    "an ICO": (b"\0\0\1\0\1\0" + b"\0" * 100, NONE),
    "an AVIF": (b"\0\0\0\x20ftypavif" + b"\0" * 100, NONE),
    "a PDF": (b"%PDF-1.7\n" + b"\0" * 100, NONE),
    "a zip": (b"PK\x03\x04" + b"\0" * 100, NONE),
    "PNG in upper case of a MIME body": (b"Content-Type: image/png\r\n\r\n" + png(200, 200), NONE),
    "a byte more than 2 MB": (png(200, 200) + b"\0" * MOST_BYTES, "larger than 2 MB"),
}
POLYGLOTS = {
    "PNG with HTML in a chunk": (png(200, 200, padding=0).replace(b"teSt", b"<b>t"), "image/png"),
    "JPEG with a script in a comment": (
        b"\xff\xd8\xff\xfe\x00\x1b<script>alert(1)</script>" + jpeg(200, 200)[2:],
        "image/jpeg",
    ),
    "JPEG with a zip behind": (jpeg(200, 200) + b"PK\x03\x04", "image/jpeg"),
    "WebP with HTML behind": (webp_lossless(200, 200) + b"<script>alert(1)</script>", "image/webp"),
}


async def sent(owner: httpx2.AsyncClient, target: Target, content: bytes, kind: str) -> httpx2.Response:
    files = {"cover": ("cover.svg", content, kind)}
    return await owner.post(target.event_page("/cover"), files=files)


@pytest.mark.finding(14)
@pytest.mark.parametrize("name", REFUSED)
async def test_what_is_no_cover(target: Target, name: str) -> None:
    content, sentence = REFUSED[name]
    async with target.studio() as owner:
        answer = await sent(owner, target, content, "image/png")
    assert answer.status_code == 422
    assert sentence in answer.text


@pytest.mark.finding(14)
@pytest.mark.parametrize("name", POLYGLOTS)
async def test_a_picture_that_is_also_something_else(target: Target, name: str) -> None:
    """It is served as the picture that it is, whatever type the upload claimed, and a browser may not guess."""
    content, kind = POLYGLOTS[name]
    async with target.studio() as owner:
        assert (await sent(owner, target, content, "text/html")).status_code == 303
        page = await owner.get(target.event_page())
        (path,) = set(re.findall(r'src="(/covers/[^"]+)"', page.text))
    async with httpx2.AsyncClient(base_url=target.server.url) as anybody:
        answer = await anybody.get(path)
        assert answer.content == content
        assert answer.headers["content-type"] == kind
        assert answer.headers["x-content-type-options"] == "nosniff"
        assert answer.headers["content-security-policy"] == "default-src 'none'; sandbox"
        for other in ("svg", "html", "png.html", "js"):
            assert (await anybody.get(path.rpartition(".")[0] + "." + other)).status_code == 404


@pytest.mark.alone
@pytest.mark.finding(14)
async def test_two_megabytes_of_fill_bytes_cost_no_more_than_others(target: Target) -> None:
    spent: dict[str, list[float]] = {"FF only": [], "a BMP": []}
    plain = b"BM" + b"\0" * (MOST_BYTES - 2)
    async with target.studio() as owner:
        for _ in range(5):
            for name, content in (("FF only", REFUSED["FF only"][0]), ("a BMP", plain)):
                before = cpu.exact_seconds(target.server.process.pid)
                await sent(owner, target, content, "image/png")
                spent[name].append(cpu.exact_seconds(target.server.process.pid) - before)
    fill_bytes, zeros = min(spent["FF only"]), min(spent["a BMP"])
    print(f"\nCPU of the server: 2 MB of FF {fill_bytes * 1000:.0f} ms, 2 MB of zeros {zeros * 1000:.0f} ms")
    assert fill_bytes < 2 * zeros
