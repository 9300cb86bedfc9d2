"""Pictures by their first bytes: the three formats are read, everything else is refused."""

import struct
import time
import zlib

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from gatepass.base.errors import InvalidRequest
from gatepass.domain.events.image_format import LARGEST, MOST_BYTES, Image, ImageFormat, read_image
from tests.pictures import jpeg, png, webp_extended, webp_lossless, webp_lossy

MADE = {
    "png": (png, ImageFormat.PNG),
    "jpeg": (jpeg, ImageFormat.JPG),
    "lossy": (webp_lossy, ImageFormat.WEBP),
    "lossless": (webp_lossless, ImageFormat.WEBP),
    "extended": (webp_extended, ImageFormat.WEBP),
}
sides = st.integers(100, 400)


@pytest.mark.parametrize("name", MADE)
@given(width=sides, height=sides)
def test_a_picture_and_its_size(name: str, width: int, height: int) -> None:
    make, kind = MADE[name]
    assert read_image(make(width, height)) == Image(kind, width, height)


@given(st.binary(max_size=400))
@example(b"")
@example(b"GIF89a" + b"\x00" * 40)
@example(b"<svg xmlns='http://www.w3.org/2000/svg'><script>alert(1)</script></svg>")
@example(b"\xff\xd8\xff\xe0\x00\x00" + b"\xff" * 100)
@example(b"RIFF\x20\x00\x00\x00WEBPVP8 ")
def test_what_is_no_picture_is_refused(content: bytes) -> None:
    with pytest.raises(InvalidRequest) as refusal:
        read_image(content)
    assert refusal.value.param == "cover"


@pytest.mark.parametrize("name", MADE)
@given(data=st.data())
def test_a_damaged_picture_is_seen_or_refused(name: str, data: st.DataObject) -> None:
    whole = bytearray(MADE[name][0](200, 300))
    for _ in range(data.draw(st.integers(1, 4))):
        whole[data.draw(st.integers(0, len(whole) - 1))] = data.draw(st.integers(0, 255))
    try:
        read_image(bytes(whole[: data.draw(st.integers(0, len(whole)))]))
    except InvalidRequest as refusal:
        assert refusal.param == "cover"  # noqa: PT017


@pytest.mark.parametrize(
    ("width", "height"), [(99, 200), (200, 99), (LARGEST + 1, 200), (200, LARGEST + 1), (6000, 6000)]
)
def test_what_is_too_small_or_too_large_is_refused(width: int, height: int) -> None:
    with pytest.raises(InvalidRequest, match=f"{width} by {height}"):
        read_image(webp_lossless(width, height))


def test_two_megabytes_are_the_most() -> None:
    whole = png(200, 200, padding=MOST_BYTES - len(png(200, 200, padding=0)))
    assert len(whole) == MOST_BYTES
    assert read_image(whole).width == 200
    with pytest.raises(InvalidRequest, match="2 MB"):
        read_image(whole + b" ")


@pytest.mark.parametrize("unit", [b"\xff", b"\xff\xd0", b"\xff\xe0\x00\x00", b"\xff\xe0\x00\x02", b"\xff\x01"])
def test_few_segments_are_looked_at(unit: bytes) -> None:
    content = (b"\xff\xd8\xff\xff" + unit * MOST_BYTES)[:MOST_BYTES]
    began = time.thread_time()
    with pytest.raises(InvalidRequest, match="not a PNG"):
        read_image(content)
    assert time.thread_time() - began < 0.005


def test_a_cut_png_is_refused() -> None:
    with pytest.raises(InvalidRequest):
        read_image(png(200, 200)[:-1])


def test_the_png_that_tests_use_is_a_true_one() -> None:
    content = png(3, 2)
    start = content.index(b"IDAT")
    (length,) = struct.unpack(">I", content[start - 4 : start])
    assert len(zlib.decompress(content[start + 4 : start + 4 + length])) == (3 * 3 + 1) * 2
