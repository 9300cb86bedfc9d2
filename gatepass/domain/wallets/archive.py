"""The archive of a pass, `.pkpass`: a zip with its files at the root, a manifest of their SHA-1 and its signature.

SHA-1 is the format's own choice; the signature over the manifest uses SHA-256.
"""

import hashlib
import json
import zipfile
from collections.abc import Mapping
from functools import cache
from io import BytesIO
from pathlib import Path
from typing import Any, Final

from gatepass.base.language import Language, translations
from gatepass.domain.wallets.apple_certificate import AppleCertificate

MEDIA_TYPE: Final = "application/vnd.apple.pkpass"
FOLDER: Final = Path(__file__).parent
# A zip must have a time for each file; a fixed one makes the same pass the same bytes, but for its signature.
WRITTEN: Final = (1980, 1, 1, 0, 0, 0)


def pack(content: Mapping[str, Any], texts: frozenset[str], certificate: AppleCertificate) -> bytes:
    """The signed archive of this pass. `texts` are the English texts of it that phones show in their own language."""
    files = {
        "pass.json": json.dumps(content, ensure_ascii=False, separators=(",", ":")).encode(),
        **_images(),
        **{f"{language}.lproj/pass.strings": _strings(language, texts) for language in Language},
    }
    manifest = json.dumps({name: hashlib.sha1(raw, usedforsecurity=False).hexdigest() for name, raw in files.items()})
    files |= {"manifest.json": manifest.encode(), "signature": certificate.sign(manifest.encode())}
    packed = BytesIO()
    with zipfile.ZipFile(packed, "w") as archive:
        for name, raw in files.items():
            archive.writestr(zipfile.ZipInfo(name, WRITTEN), raw, zipfile.ZIP_DEFLATED)
    return packed.getvalue()


@cache
def _images() -> dict[str, bytes]:
    """Icons and logo in the sizes of phones. tools/wallet_images.py draws them."""
    return {path.name: path.read_bytes() for path in sorted((FOLDER / "images").glob("*.png"))}


@cache
def _strings(language: Language, texts: frozenset[str]) -> bytes:
    """The texts in one language, each behind its English form, which the pass has in its place."""
    catalogue = translations(FOLDER / "languages", language)
    return "".join(f'"{text}" = "{catalogue.gettext(text)}";\n' for text in sorted(texts)).encode()
