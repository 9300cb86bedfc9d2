"""Pages of a PDF as a printer draws them, and the codes on them as a gate reads them."""

import subprocess
from collections.abc import Iterator
from pathlib import Path

import zxingcpp
from PIL import Image


def rendered(document: Path, folder: Path, *, first: int = 1, last: int | None = None) -> Iterator[Image.Image]:
    """One picture after another, at 150 dpi. A warning of the reader is a fault of the file."""
    pages = ["-f", str(first), *(["-l", str(last)] if last else [])]
    done = subprocess.run(
        ["pdftoppm", "-r", "150", "-gray", *pages, document, folder / "page"],
        check=True, capture_output=True, text=True,
    )  # fmt: skip
    assert done.stderr == ""
    for path in sorted(folder.glob("page*.pgm")):
        with Image.open(path) as picture:
            picture.load()
        path.unlink()
        yield picture


def codes_on(page: Image.Image) -> list[str]:
    """QR codes alone, and no micro ones: other kinds are sometimes seen in the modules of one."""
    kind = zxingcpp.BarcodeFormat.QRCodeModel2
    return [found.text for found in zxingcpp.read_barcodes(page, formats=kind)]  # pyright: ignore[reportArgumentType]
