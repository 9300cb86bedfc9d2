"""The README's quickstart, run as it is pasted: from a clean copy to the first scan."""

import json
import os
import re
import shutil
import signal
import subprocess
import threading
import time
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path

import pytest

from tests.postgres import free_port

ROOT = Path(__file__).parents[1]
BLOCK = re.compile(r"^```(\w+)\n(.*?)^```", re.MULTILINE | re.DOTALL)
# From a clean clone, with a warm package cache.
PROMISED_SECONDS = 60


def blocks() -> tuple[str, str, str, str]:
    setup, dev, scan, answer = BLOCK.findall((ROOT / "README.md").read_text())
    assert [setup[0], dev[0], scan[0], answer[0]] == ["bash", "bash", "bash", "json"]
    return setup[1], dev[1], scan[1], answer[1]


def copy_to(folder: Path) -> None:
    """The files that git would clone, as they are now."""
    listed = subprocess.run(
        ["git", "ls-files", "-co", "--exclude-standard"], cwd=ROOT, check=True, capture_output=True, text=True
    ).stdout.splitlines()
    for name in listed:
        if (ROOT / name).is_file():
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(ROOT / name, folder / name)


@contextmanager
def running(command: str, folder: Path, env: dict[str, str]) -> Generator[list[str]]:
    """Run a command that stays, as in a first terminal; what it has printed so far."""
    process = subprocess.Popen(
        ["bash", "-c", f"exec {command}"],
        cwd=folder,
        env=env,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )
    assert process.stdout is not None
    lines: list[str] = []
    reader = threading.Thread(target=lambda: lines.extend(process.stdout or []), daemon=True)
    reader.start()
    try:
        yield lines
    finally:
        process.send_signal(signal.SIGTERM)
        process.wait(30)
        reader.join(10)
        process.stdout.close()


def wait_for(what: str, lines: list[str], within: float) -> None:
    deadline = time.monotonic() + within
    while not any(what in line for line in lines):
        assert time.monotonic() < deadline, "".join(lines)
        time.sleep(0.02)


@pytest.mark.slow
def test_the_quickstart_works_as_pasted(tmp_path: Path) -> None:
    setup, dev, scan, expected = blocks()
    copy_to(tmp_path)
    tmp_path.chmod(0o755)
    env = {name: value for name, value in os.environ.items() if not name.startswith("GATEPASS_")}
    env |= {"GATEPASS_PORT": str(free_port()), "UV_LINK_MODE": "copy"}
    began = time.monotonic()
    subprocess.run(["bash", "-ec", setup], cwd=tmp_path, env=env, check=True, capture_output=True)
    with running(dev.strip(), tmp_path, env) as lines:
        wait_for("curl", lines, PROMISED_SECONDS)
        answer = subprocess.run(
            ["bash", "-ec", scan], cwd=tmp_path, env=env, check=True, capture_output=True, text=True
        ).stdout
        took = time.monotonic() - began
        assert json.loads(answer) == json.loads(expected)
    print(f"from a clean clone to the first scan: {took:.1f} s")
    assert took < PROMISED_SECONDS
