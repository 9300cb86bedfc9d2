"""Draw the icon and the logo of passes in Apple Wallet: `python -m tools.wallet_images`.

The sign of gatepass/studio/static/gatepass.svg, as phones want it: PNG in one, two and three times the size. The files
are committed, and a test compares them with what this draws.
"""

from io import BytesIO
from pathlib import Path
from typing import Final

from PIL import Image, ImageDraw

FOLDER: Final = Path(__file__).parents[1] / "gatepass" / "domain" / "wallets" / "images"
TEAL: Final = (15, 118, 110, 255)
WHITE: Final = (255, 255, 255, 255)
CLEAR: Final = (0, 0, 0, 0)
# Drawn this many times larger and made smaller, so that the edges are smooth.
FINER: Final = 8
# Points of a side. The icon is for notifications, the logo stands on the pass itself.
SIDES: Final = {"icon": 29, "logo": 50}


def drawn() -> dict[str, bytes]:
    """The files by name."""
    return {
        f"{name}{'' if scale == 1 else f'@{scale}x'}.png": _png(_sign(points * scale, on_pass=name == "logo"))
        for name, points in SIDES.items()
        for scale in (1, 2, 3)
    }


def _sign(pixels: int, *, on_pass: bool) -> Image.Image:
    """A ticket, white on a teal square; on the pass itself, which has a colour already, white alone."""
    size = pixels * FINER
    unit = size / 32
    image = Image.new("RGBA", (size, size), CLEAR if on_pass else TEAL)
    draw = ImageDraw.Draw(image)
    ground = CLEAR if on_pass else TEAL
    draw.rectangle(_box(7, 11, 25, 21, unit), fill=WHITE)
    for side in (7, 25):
        draw.ellipse(_box(side - 2, 14, side + 2, 18, unit), fill=ground)
    for top in (12, 15.2, 18.4):
        draw.rectangle(_box(18.2, top, 19.8, top + 1.6, unit), fill=ground)
    return image.resize((pixels, pixels), Image.Resampling.LANCZOS)


def _box(left: float, top: float, right: float, bottom: float, unit: float) -> tuple[float, float, float, float]:
    return left * unit, top * unit, right * unit, bottom * unit


def _png(image: Image.Image) -> bytes:
    written = BytesIO()
    image.save(written, "PNG", optimize=True)
    return written.getvalue()


if __name__ == "__main__":
    for name, raw in drawn().items():
        (FOLDER / name).write_bytes(raw)
