"""Generate the synchronous client from the asynchronous one: `python tools/sdk_sync.py [--check]`.

Only the asynchronous client is written by hand. The replacements in this file are all that differs.
"""

import re
import subprocess
import sys
from pathlib import Path

SDK = Path(__file__).parents[1] / "sdk" / "gatepass_sdk"
NOTE = "# Generated from {source} by `make sdk-sync`. Change that file.\n"
WORDS = {
    "AsyncIterator": "Iterator",
    "__aiter__": "__iter__",
    "__aenter__": "__enter__",
    "__aexit__": "__exit__",
    "aclose": "close",
    "async_events": "events",
    "async_send": "send",
    "async_sleep": "sleep",
    "_async": "_sync",
}
TOKEN = re.compile(r"\b(async |await )?(\w+)\b")


def to_synchronous(text: str) -> str:
    """The source without `async` and `await`, and with the synchronous names."""

    def replaced(found: re.Match[str]) -> str:
        word = found[2]
        return WORDS.get(word, re.sub(r"^Async(?=[A-Z])", "", word))

    return TOKEN.sub(replaced, text)


def generated() -> dict[Path, str]:
    """Every file of the synchronous client, as it should be."""
    files: dict[Path, str] = {}
    for source in sorted((SDK / "_async").glob("*.py")):
        note = NOTE.format(source=f"_async/{source.name}")
        body = '"""The synchronous client."""\n' if source.name == "__init__.py" else to_synchronous(source.read_text())
        files[SDK / "_sync" / source.name] = _formatted(note + body)
    return files


def _formatted(text: str) -> str:
    ruff = [str(Path(sys.executable).with_name("ruff"))]
    ordered = subprocess.run(
        [*ruff, "check", "-q", "--select", "I", "--fix", "--stdin-filename", str(SDK / "generated.py"), "-"],
        input=text,
        check=True,
        capture_output=True,
        text=True,
    ).stdout
    return subprocess.run(
        [*ruff, "format", "-q", "--stdin-filename", str(SDK / "generated.py"), "-"],
        input=ordered,
        check=True,
        capture_output=True,
        text=True,
    ).stdout


def main() -> int:
    files = generated()
    drifted = [path for path, text in files.items() if not path.exists() or path.read_text() != text]
    extra = [path for path in (SDK / "_sync").glob("*.py") if path not in files]
    if "--check" in sys.argv:
        for path in drifted + extra:
            print(f"{path.relative_to(SDK)} differs from its source in _async: run `make sdk-sync`.")
        return 1 if drifted or extra else 0
    for path in extra:
        path.unlink()
    for path, text in files.items():
        path.parent.mkdir(exist_ok=True)
        path.write_text(text)
    return 0


if __name__ == "__main__":
    sys.exit(main())
