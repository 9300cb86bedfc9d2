"""A clean copy of the repository, as a reader has it."""

import shutil
import subprocess
from pathlib import Path

from tests.markdown_page import ROOT


def clone(folder: Path) -> None:
    """The files that git would clone, in their present state."""
    listed = subprocess.run(
        ["git", "ls-files", "-co", "--exclude-standard"], cwd=ROOT, check=True, capture_output=True, text=True
    ).stdout.splitlines()
    for name in listed:
        if (ROOT / name).is_file():
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(ROOT / name, folder / name)
