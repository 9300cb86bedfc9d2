"""Videos for Chromium's fake camera: codes as guests hold them before a lens. Joined JPEGs, drawn by Pillow alone.

A video shows each code for some frames and then an empty hand, and begins again at its end. Chromium plays such a file
at 30 frames a second.
"""

import io
import random
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import segno
from PIL import Image, ImageChops, ImageDraw, ImageEnhance, ImageFilter

SIZE: Final = (1280, 720)
# How long a hurried guest holds a code, and how long the next one takes. At 30 frames a second.
HELD: Final = 18
EMPTY: Final = 6
LONGEST_CODE: Final = 311
BASE32: Final = "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567"
BASE64: Final = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_"

Point = tuple[float, float]


def tokens(count: int, seed: int) -> list[str]:
    """Texts of the form of our codes, by turns SVC1 and the longest SVC2, which fills QR 10-M."""
    draw = random.Random(seed)
    return [_svc2(draw) if at % 2 else _svc1(draw) for at in range(count)]


def _svc1(draw: random.Random) -> str:
    number = f"SVC{draw.randrange(10**12):012}"
    return f"SVC1.{number}.1790000000.{''.join(draw.choices(BASE64, k=86))}"


def _svc2(draw: random.Random) -> str:
    signature = "".join(draw.choices(BASE32, k=103))
    certificate = "".join(draw.choices(BASE32, k=LONGEST_CODE - len(f"SVC2..1790000000.{signature}")))
    return f"SVC2.{certificate}.1790000000.{signature}"


@dataclass(frozen=True)
class Moment:
    """One frame to be drawn: the code's picture, how far its time is gone (0 to 1), and chance that a seed fixes."""

    code: Image.Image
    gone: float
    draw: random.Random


Look = Callable[[Moment], Image.Image]


def straight(moment: Moment) -> Image.Image:
    return _placed(moment.code, _square((640, 360), 340))


def far(moment: Moment) -> Image.Image:
    """At arm's length: a module of the longest code has two pixels of the camera, and one at half of its size."""
    return _placed(moment.code, _square((700, 330), 140))


def tilted(moment: Moment) -> Image.Image:
    """Turned in the plane and leaning back, so that the far side is shorter."""
    turned = _turned(_square((640, 360), 400), (640, 360), moment.gone * 50 - 25)
    leaning = [(x, y * 0.9 + (40 if at < 2 else 0)) for at, (x, y) in enumerate(turned)]
    top_left, top_right, bottom_right, bottom_left = leaning
    return _placed(
        moment.code, [_toward(top_left, top_right, 0.1), _toward(top_right, top_left, 0.1), bottom_right, bottom_left]
    )


def blurred(moment: Moment) -> Image.Image:
    """Out of focus: the radius is nearly half a module."""
    return straight(moment).filter(ImageFilter.GaussianBlur(2.2))


def moving(moment: Moment) -> Image.Image:
    """Passed through the picture in its time; each frame is exposed while the hand moves on."""
    at = 250 + 780 * moment.gone
    frames = [_placed(moment.code, _square((at + shift, 360), 340)) for shift in (0, 2, 4, 6)]
    first, second = (Image.blend(frames[one], frames[one + 1], 0.5) for one in (0, 2))
    return Image.blend(first, second, 0.5)


def glare(moment: Moment) -> Image.Image:
    """A lamp in the glass: a white spot moves over the code, and washes out what is near."""
    lamp = Image.new("L", SIZE, 0)
    x, y = 540 + 200 * moment.gone, 270 + 150 * moment.gone
    ImageDraw.Draw(lamp).ellipse((x - 32, y - 20, x + 32, y + 20), fill=255)
    shine = lamp.filter(ImageFilter.GaussianBlur(10))
    return ImageChops.screen(straight(moment), Image.merge("RGB", (shine, shine, shine)))


def dark(moment: Moment) -> Image.Image:
    """A poor light, and the grain that a camera then has."""
    return _grained(ImageEnhance.Brightness(straight(moment)).enhance(0.22), moment.draw, 0.5)


def noisy(moment: Moment) -> Image.Image:
    return _grained(straight(moment), moment.draw, 1.6)


LOOKS: Final[dict[str, Look]] = {
    look.__name__: look for look in (straight, far, tilted, blurred, moving, glare, dark, noisy)
}
# Drawn once for all frames of a code. Of the others each drawing is shown twice.
STILL: Final = {straight, far, blurred}


def write_feed(path: Path, shown: list[tuple[Look, str]], *, held: int = HELD, empty: int = EMPTY) -> Path:
    """`path` must end in `.mjpeg`: Chromium goes by it."""
    with path.open("wb") as file:
        for look, text in shown:
            for frame in held_frames(look, text, held):
                file.write(frame)
            file.write(as_jpeg(_background()) * empty)
    return path


def held_frames(look: Look, text: str, held: int = HELD) -> Iterator[bytes]:
    """The frames of one code, as JPEGs."""
    code, draw = picture(text), random.Random(text)
    times = held if look in STILL else 2
    for at in range(0, held, times):
        frame = as_jpeg(look(Moment(code, at / held, draw)))
        for _ in range(min(times, held - at)):
            yield frame


def as_jpeg(frame: Image.Image) -> bytes:
    file = io.BytesIO()
    frame.save(file, "JPEG", quality=85, subsampling=2)
    return file.getvalue()


def picture(text: str) -> Image.Image:
    """A code at level M with its white border, as the card page draws it: eight pixels a module."""
    file = io.BytesIO()
    segno.make(text, error="m", micro=False, boost_error=False).save(file, kind="png", scale=8, border=4)
    return Image.open(file).convert("RGB")


_kept: dict[str, Image.Image] = {}


def _background() -> Image.Image:
    """A hand's and a room's worth of edges, so that the decoder has something to look at."""
    if "background" not in _kept:
        draw = random.Random(1)
        room = Image.new("RGB", SIZE, (96, 88, 80))
        pen = ImageDraw.Draw(room)
        for _ in range(60):
            x, y, width, height = (
                draw.randrange(1280),
                draw.randrange(720),
                draw.randrange(20, 260),
                draw.randrange(20, 200),
            )
            grey = draw.randrange(30, 200)
            pen.rectangle((x, y, x + width, y + height), fill=(grey, grey - 10, grey - 20))
        _kept["background"] = room.filter(ImageFilter.GaussianBlur(2))
    return _kept["background"]


def _grained(frame: Image.Image, draw: random.Random, strength: float) -> Image.Image:
    """Noise of a Gauss distribution. One picture of it serves all frames, shifted by chance."""
    if "noise" not in _kept:
        _kept["noise"] = Image.merge("RGB", [Image.effect_noise(SIZE, 32) for _ in range(3)])
    noise = ImageChops.offset(_kept["noise"], draw.randrange(SIZE[0]), draw.randrange(SIZE[1]))
    return ImageChops.add(frame, noise.point(lambda value: int(128 + (value - 128) * strength)), 1, -128)


def _square(centre: Point, side: float) -> list[Point]:
    (x, y), half = centre, side / 2
    return [(x - half, y - half), (x + half, y - half), (x + half, y + half), (x - half, y + half)]


def _turned(corners: list[Point], centre: Point, degrees: float) -> list[Point]:
    turn = complex(0, 1) ** (degrees / 90)
    around = complex(*centre)
    return [(moved.real, moved.imag) for corner in corners for moved in [around + (complex(*corner) - around) * turn]]


def _toward(corner: Point, other: Point, part: float) -> Point:
    return (corner[0] + (other[0] - corner[0]) * part, corner[1] + (other[1] - corner[1]) * part)


def _placed(code: Image.Image, corners: list[Point]) -> Image.Image:
    """The code on a dark phone in the room, with its corners (from top left, clockwise) where they are wanted."""
    left, top = (int(min(corner[axis] for corner in corners)) - 2 for axis in (0, 1))
    right, bottom = (int(max(corner[axis] for corner in corners)) + 3 for axis in (0, 1))
    # Drawn at twice its size, then halved: the edges are soft, as a lens makes them.
    doubled = [((x - left) * 2, (y - top) * 2) for x, y in corners]
    size = (right - left, bottom - top)
    big = (size[0] * 2, size[1] * 2)
    seen = code.transform(
        big, Image.Transform.PERSPECTIVE, _coefficients(doubled, code.size), Image.Resampling.BILINEAR
    )
    mask = Image.new("L", big, 0)
    ImageDraw.Draw(mask).polygon(doubled, fill=255)
    frame = _background().copy()
    phone = (left - 24, top - 70, right + 24, bottom + 110)
    ImageDraw.Draw(frame).rounded_rectangle(phone, 28, fill=(24, 26, 30))
    frame.paste(seen.reduce(2), (left, top), mask.reduce(2))
    return frame


def _coefficients(corners: list[Point], size: tuple[int, int]) -> list[float]:
    """The eight numbers that take a point of the frame back to one of the code: two equations a corner, solved."""
    width, height = size
    rows: list[list[float]] = []
    for (x, y), (u, v) in zip(corners, [(0, 0), (width, 0), (width, height), (0, height)], strict=True):
        rows.append([x, y, 1, 0, 0, 0, -u * x, -u * y, u])
        rows.append([0, 0, 0, x, y, 1, -v * x, -v * y, v])
    for at in range(8):
        pivot = max(range(at, 8), key=lambda row: abs(rows[row][at]))
        rows[at], rows[pivot] = rows[pivot], rows[at]
        rows[at] = [value / rows[at][at] for value in rows[at]]
        for row in range(8):
            if row != at:
                rows[row] = [value - rows[row][at] * own for value, own in zip(rows[row], rows[at], strict=True)]
    return [row[8] for row in rows]
