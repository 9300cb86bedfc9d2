"""A `.pkpass` as a phone reads it. OpenSSL, which did not write the signature, verifies it."""

import hashlib
import io
import json
import subprocess
import tempfile
import zipfile
from pathlib import Path
from typing import Any

from tests.wallets import authority

OWN = {"manifest.json", "signature"}


def opened(raw: bytes) -> dict[str, bytes]:
    """The files, if their hashes are those of the manifest and the signature is good."""
    files = unzipped(raw)
    assert json.loads(files["manifest.json"]) == {
        name: hashlib.sha1(content, usedforsecurity=False).hexdigest()
        for name, content in files.items()
        if name not in OWN
    }
    assert is_signed(files["manifest.json"], files["signature"])
    return files


def content(raw: bytes) -> dict[str, Any]:
    """What `pass.json` says."""
    return json.loads(opened(raw)["pass.json"])


def unzipped(raw: bytes) -> dict[str, bytes]:
    with zipfile.ZipFile(io.BytesIO(raw)) as archive:
        return {name: archive.read(name) for name in archive.namelist()}


def is_signed(manifest: bytes, signature: bytes) -> bool:
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "root.pem").write_bytes(authority.root().pem())
        (folder / "manifest").write_bytes(manifest)
        (folder / "signature").write_bytes(signature)
        verified = subprocess.run(
            ["openssl", "cms", "-verify", "-binary", "-inform", "DER", "-in", "signature", "-content", "manifest",
             "-CAfile", "root.pem", "-purpose", "any", "-out", "verified"],
            check=False, cwd=folder, capture_output=True, text=True,
        )  # fmt: skip
        assert verified.returncode in (0, 4), verified.stderr
        return verified.returncode == 0 and (folder / "verified").read_bytes() == manifest
