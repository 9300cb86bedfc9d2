"""The QR code of a token as a picture. It is drawn ten thousand times, so it must take a millisecond or two."""

from typing import Final

import segno
from PIL import Image

# Trying all eight masks takes ten milliseconds, and readers take any of them.
MASK: Final = 4
# Pixels of a module. Some viewers smooth what they enlarge, and one pixel a module would be a blur.
PIXELS: Final = 3
# Modules of quiet zone on each side, as the standard asks.
QUIET: Final = 4


def picture(token: str) -> Image.Image:
    """Black on white with its quiet zone, in greys: fpdf2 2.8 writes two colours with rows of a wrong length."""
    matrix = segno.make_qr(token, error="m", mode="byte", mask=MASK, boost_error=False).matrix
    size = len(matrix)
    modules = Image.frombytes("L", (size, size), b"".join(bytes(row) for row in matrix).translate(SHADES))
    framed = Image.new("L", (size + 2 * QUIET, size + 2 * QUIET), 255)
    framed.paste(modules, (QUIET, QUIET))
    side = framed.width * PIXELS
    return framed.resize((side, side), Image.Resampling.NEAREST)


# A dark module is 1.
SHADES: Final = bytes([255, 0]) + bytes(254)
