"""The format and size of a picture, from its first bytes: PNG, JPEG or WebP. Pure.

Nothing is decoded: untrusted bytes are only compared here, and then go to browsers, which are built for them. The
dimensions bound the memory that a browser needs.
"""

from dataclasses import dataclass
from enum import StrEnum
from typing import Final

from gatepass.base.errors import InvalidRequest

MOST_BYTES: Final = 2 * 1024 * 1024
SMALLEST: Final = 100
LARGEST: Final = 8_000
# A phone can decode this many, at four bytes for each.
MOST_PIXELS: Final = 24_000_000

PNG_BEGINS: Final = b"\x89PNG\r\n\x1a\n\x00\x00\x00\rIHDR"
PNG_ENDS: Final = b"\x00\x00\x00\x00IEND\xaeB`\x82"
# Start-of-frame markers. 0xC4, 0xC8 and 0xCC are other markers.
FRAMES: Final = frozenset(range(0xC0, 0xD0)) - {0xC4, 0xC8, 0xCC}
# Markers without a length.
BARE: Final = frozenset({0x01, *range(0xD0, 0xD8)})
# A picture of 2 MB with the longest segments has 32; fill bytes count too.
MOST_SEGMENTS: Final = 500
# The length of a segment counts its own two bytes.
SHORTEST_SEGMENT: Final = 2


class ImageFormat(StrEnum):
    PNG = "png"
    JPG = "jpg"
    WEBP = "webp"

    @property
    def media_type(self) -> str:
        return "image/jpeg" if self is ImageFormat.JPG else f"image/{self}"


@dataclass(frozen=True, slots=True)
class Image:
    kind: ImageFormat
    width: int
    height: int


@dataclass(frozen=True, slots=True)
class Bounds:
    """What a picture may be, for one use of it. `param` is the field of the form that it comes in."""

    param: str
    most_bytes: int
    smallest: int


COVER: Final = Bounds("cover", MOST_BYTES, SMALLEST)


def read_image(content: bytes, bounds: Bounds = COVER) -> Image:
    """The format and size. Refuses other formats, and pictures that are too large or too small for their use."""
    if len(content) > bounds.most_bytes:
        raise InvalidRequest(f"The picture is larger than {_size(bounds.most_bytes)}.", param=bounds.param)
    found = _png(content) or _jpeg(content) or _webp(content)
    if found is None:
        raise InvalidRequest("This is not a PNG, JPEG or WebP picture.", param=bounds.param)
    sides, said = (found.width, found.height), f"The picture is {found.width} by {found.height} pixels;"
    if min(sides) < bounds.smallest:
        raise InvalidRequest(f"{said} it must be at least {bounds.smallest} each way.", param=bounds.param)
    if max(sides) > LARGEST or found.width * found.height > MOST_PIXELS:
        raise InvalidRequest(f"{said} at most {LARGEST:,} each way, 24 million in all.", param=bounds.param)
    return found


def _size(count: int) -> str:
    return f"{count // 2**20} MB" if count >= 2**20 else f"{count // 2**10} kB"


def _png(content: bytes) -> Image | None:
    if not content.startswith(PNG_BEGINS) or not content.endswith(PNG_ENDS):
        return None
    return Image(ImageFormat.PNG, int.from_bytes(content[16:20]), int.from_bytes(content[20:24]))


def _jpeg(content: bytes) -> Image | None:
    """Skips from segment to segment to the start of frame, which has the size."""
    if not content.startswith(b"\xff\xd8\xff"):
        return None
    at = 2
    for _ in range(MOST_SEGMENTS):
        if at + 9 > len(content) or content[at] != 0xFF:
            return None
        marker, length = content[at + 1], int.from_bytes(content[at + 2 : at + 4])
        if marker in FRAMES:
            return Image(
                ImageFormat.JPG, int.from_bytes(content[at + 7 : at + 9]), int.from_bytes(content[at + 5 : at + 7])
            )
        if marker == 0xFF:  # a fill byte
            at += 1
        elif marker in BARE:
            at += 2
        elif length < SHORTEST_SEGMENT:
            return None
        else:
            at += 2 + length
    return None


def _webp(content: bytes) -> Image | None:
    if content[:4] != b"RIFF" or content[8:12] != b"WEBP" or len(content) < 30:
        return None
    if int.from_bytes(content[4:8], "little") + 8 > len(content):
        return None
    match content[12:16]:
        case b"VP8X":
            width, height = content[24:27], content[27:30]
            return Image(ImageFormat.WEBP, int.from_bytes(width, "little") + 1, int.from_bytes(height, "little") + 1)
        case b"VP8 " if content[23:26] == b"\x9d\x01\x2a":
            width, height = int.from_bytes(content[26:28], "little"), int.from_bytes(content[28:30], "little")
            return Image(ImageFormat.WEBP, width & 0x3FFF, height & 0x3FFF)
        case b"VP8L" if content[20] == 0x2F:
            packed = int.from_bytes(content[21:25], "little")
            return Image(ImageFormat.WEBP, (packed & 0x3FFF) + 1, (packed >> 14 & 0x3FFF) + 1)
        case _:
            return None
