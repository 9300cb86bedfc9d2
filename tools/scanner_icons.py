"""Draw the icons with which phones install the scanner: `python -m tools.scanner_icons`.

The sign of gatepass/gate/static/icon.svg as PNG: with round corners, and filling the square for phones that cut it into
a shape of their own. The files are committed, and a test compares them with what this draws.
"""

from io import BytesIO
from pathlib import Path
from typing import Final

from PIL import Image, ImageDraw

FOLDER: Final = Path(__file__).parents[1] / "gatepass" / "gate" / "static"
TEAL: Final = (15, 118, 110, 255)
WHITE: Final = (255, 255, 255, 255)
CLEAR: Final = (0, 0, 0, 0)
# Drawn this many times larger and made smaller, so that the edges are smooth.
FINER: Final = 4
# The side of the drawing, as in the SVG.
SIDE: Final = 512
# What phones leave of an icon for any shape is a circle of 80 %: there the sign is smaller.
SAFE: Final = 0.8


def drawn() -> dict[str, bytes]:
    """The files by name."""
    return {
        "icon-192.png": _png(_icon(192, is_round=True)),
        "icon-512.png": _png(_icon(512, is_round=True)),
        "icon-maskable.png": _png(_icon(512, is_round=False, scale=SAFE)),
    }


def _icon(pixels: int, *, is_round: bool, scale: float = 1) -> Image.Image:
    size = pixels * FINER
    unit = size / SIDE
    image = Image.new("RGBA", (size, size), CLEAR if is_round else TEAL)
    draw = ImageDraw.Draw(image)
    if is_round:
        draw.rounded_rectangle((0, 0, size - 1, size - 1), radius=112 * unit, fill=TEAL)

    def place(x: float, y: float) -> tuple[float, float]:
        return (256 + (x - 256) * scale) * unit, (256 + (y - 256) * scale) * unit

    for flip_x in (False, True):
        for flip_y in (False, True):
            corner = [(112, 192), (112, 144), (121, 121), (144, 112), (192, 112)]
            points = [place(512 - x if flip_x else x, 512 - y if flip_y else y) for x, y in corner]
            _line(draw, points, 32 * scale * unit)
    _line(draw, [place(184, 262), place(236, 314), place(332, 206)], 44 * scale * unit)
    return image.resize((pixels, pixels), Image.Resampling.LANCZOS)


def _line(draw: ImageDraw.ImageDraw, points: list[tuple[float, float]], width: float) -> None:
    """With round ends and joints, which Pillow does not draw by itself."""
    draw.line(points, fill=WHITE, width=round(width))
    for x, y in points:
        draw.ellipse((x - width / 2, y - width / 2, x + width / 2, y + width / 2), fill=WHITE)


def _png(image: Image.Image) -> bytes:
    written = BytesIO()
    # Two colours and the shades between them.
    image.quantize(64, Image.Quantize.FASTOCTREE).save(written, "PNG", optimize=True)
    return written.getvalue()


if __name__ == "__main__":
    for name, raw in drawn().items():
        (FOLDER / name).write_bytes(raw)
