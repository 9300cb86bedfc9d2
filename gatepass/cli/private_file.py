"""Files that only their owner may read."""

import os
from pathlib import Path


def private(path: str, flags: int) -> int:
    """For `open(…, opener=private)`: a file that it makes is its owner's alone."""
    return os.open(path, flags, 0o600)


def write_private(path: Path, text: str) -> None:
    """Write the file, also over one that others could read."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.touch(mode=0o600)
    path.chmod(0o600)
    path.write_text(text)
