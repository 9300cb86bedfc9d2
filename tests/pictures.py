"""Small pictures, made byte by byte. The PNG is complete, and browsers show it; the others have only a head."""

import struct
import zlib


def png(width: int, height: int, *, padding: int | None = None, colour: tuple[int, int, int] = (63, 94, 251)) -> bytes:
    """A gradient. With `padding` a chunk of that many bytes is added; 0 adds an empty one."""
    rows = bytearray()
    for y in range(height):
        shade = bytes(int(part * (1 - 0.6 * y / height)) for part in colour)
        rows += b"\x00" + shade * width
    parts = [_chunk(b"IHDR", struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0))]
    if padding is not None:
        parts.append(_chunk(b"teSt", b"\x00" * padding))
    parts += [_chunk(b"IDAT", zlib.compress(bytes(rows), 1)), _chunk(b"IEND", b"")]
    return b"\x89PNG\r\n\x1a\n" + b"".join(parts)


def _chunk(name: bytes, data: bytes) -> bytes:
    return struct.pack(">I", len(data)) + name + data + struct.pack(">I", zlib.crc32(name + data))


def jpeg(width: int, height: int) -> bytes:
    """Progressive, with the segments that a camera writes before the frame."""
    app0 = b"\xff\xe0" + struct.pack(">H", 16) + b"JFIF\x00\x01\x02\x00\x00\x01\x00\x01\x00\x00"
    exif = b"\xff\xe1" + struct.pack(">H", 2 + 40) + b"Exif\x00\x00" + b"\xff\xc0" * 17
    frame = b"\xff\xff\xc2" + struct.pack(">HBHHB", 17, 8, height, width, 3) + b"\x01\x22\x00\x02\x11\x01\x03\x11\x01"
    return b"\xff\xd8" + app0 + exif + frame + b"\xff\xd9"


def webp_lossy(width: int, height: int) -> bytes:
    return _webp(b"VP8 ", b"\x30\x01\x00\x9d\x01\x2a" + struct.pack("<HH", width, height) + b"\x00" * 20)


def webp_lossless(width: int, height: int) -> bytes:
    return _webp(b"VP8L", b"\x2f" + struct.pack("<I", (width - 1) | (height - 1) << 14) + b"\x00" * 20)


def webp_extended(width: int, height: int) -> bytes:
    size = (width - 1).to_bytes(3, "little") + (height - 1).to_bytes(3, "little")
    return _webp(b"VP8X", b"\x10\x00\x00\x00" + size + b"\x00" * 20)


def _webp(name: bytes, data: bytes) -> bytes:
    inner = b"WEBP" + name + struct.pack("<I", len(data)) + data
    return b"RIFF" + struct.pack("<I", len(inner)) + inner
