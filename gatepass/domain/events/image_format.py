"""What a picture is, by its first bytes: PNG, JPEG or WebP, and how large. Pure.

Nothing is decoded: a stranger's bytes go no further than these few comparisons, and then to browsers, which are built
for them. What a browser would have to unpack is bounded by the dimensions.
"""

from dataclasses import dataclass
from enum import StrEnum
from typing import Final

from gatepass.base.refusals import InvalidRequest

MOST_BYTES: Final = 2 * 1024 * 1024
SMALLEST: Final = 100
LARGEST: Final = 8_000
# What a phone can unpack without giving up: four bytes for each.
MOST_PIXELS: Final = 24_000_000

PNG_BEGINS: Final = b"\x89PNG\r\n\x1a\n\x00\x00\x00\rIHDR"
PNG_ENDS: Final = b"\x00\x00\x00\x00IEND\xaeB`\x82"
# Start of frame, in the ways that a JPEG can be coded. 0xC4, 0xC8 and 0xCC are other things.
FRAMES: Final = frozenset(range(0xC0, 0xD0)) - {0xC4, 0xC8, 0xCC}
# Markers that stand alone.
BARE: Final = frozenset({0x01, *range(0xD0, 0xD8)})


class Kind(StrEnum):
    PNG = "png"
    JPG = "jpg"
    WEBP = "webp"

    @property
    def media_type(self) -> str:
        return "image/jpeg" if self is Kind.JPG else f"image/{self}"


@dataclass(frozen=True, slots=True)
class Picture:
    kind: Kind
    width: int
    height: int


def look_at(content: bytes) -> Picture:
    """What this is; refuses what is no picture, and what is too large or too small for a cover."""
    if len(content) > MOST_BYTES:
        raise _refused("The picture is larger than 2 MB.")
    found = _png(content) or _jpeg(content) or _webp(content)
    if found is None:
        raise _refused("This is not a PNG, JPEG or WebP picture.")
    sides = (found.width, found.height)
    if min(sides) < SMALLEST:
        raise _refused(
            f"The picture is {found.width} by {found.height} pixels; it must be at least {SMALLEST} each way."
        )
    if max(sides) > LARGEST or found.width * found.height > MOST_PIXELS:
        raise _refused(
            f"The picture is {found.width} by {found.height} pixels; at most {LARGEST:,} each way, 24 million in all."
        )
    return found


def _png(content: bytes) -> Picture | None:
    if not content.startswith(PNG_BEGINS) or not content.endswith(PNG_ENDS):
        return None
    return Picture(Kind.PNG, int.from_bytes(content[16:20]), int.from_bytes(content[20:24]))


def _jpeg(content: bytes) -> Picture | None:
    """From segment to segment until the one that says the size. It comes before the picture itself."""
    if not content.startswith(b"\xff\xd8\xff"):
        return None
    at = 2
    while at + 9 <= len(content) and content[at] == 0xFF:
        marker = content[at + 1]
        if marker in FRAMES:
            return Picture(Kind.JPG, int.from_bytes(content[at + 7 : at + 9]), int.from_bytes(content[at + 5 : at + 7]))
        if marker == 0xFF:  # one more byte to fill with
            at += 1
        elif marker in BARE:
            at += 2
        else:
            at += 2 + int.from_bytes(content[at + 2 : at + 4])
    return None


def _webp(content: bytes) -> Picture | None:
    if content[:4] != b"RIFF" or content[8:12] != b"WEBP" or len(content) < 30:
        return None
    if int.from_bytes(content[4:8], "little") + 8 > len(content):
        return None
    match content[12:16]:
        case b"VP8X":
            width, height = content[24:27], content[27:30]
            return Picture(Kind.WEBP, int.from_bytes(width, "little") + 1, int.from_bytes(height, "little") + 1)
        case b"VP8 " if content[23:26] == b"\x9d\x01\x2a":
            width, height = int.from_bytes(content[26:28], "little"), int.from_bytes(content[28:30], "little")
            return Picture(Kind.WEBP, width & 0x3FFF, height & 0x3FFF)
        case b"VP8L" if content[20] == 0x2F:
            packed = int.from_bytes(content[21:25], "little")
            return Picture(Kind.WEBP, (packed & 0x3FFF) + 1, (packed >> 14 & 0x3FFF) + 1)
        case _:
            return None


def _refused(sentence: str) -> InvalidRequest:
    return InvalidRequest(sentence, param="cover")
