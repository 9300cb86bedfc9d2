"""The README's quickstart, run as it is pasted: from a clean copy to the first scan and the first webhook."""

import json
import os
import shutil
import signal
import subprocess
import threading
import time
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path

import pytest

from tests.page import ROOT, Page, pasted
from tests.postgres import free_port
from tests.worker.docs_receiver import receiver_code, wait_until_listening

# From a clean clone, with a warm package cache.
PROMISED_SECONDS = 60


def blocks() -> list[str]:
    """How to set up, to begin, to scan, what that answers, how to receive a webhook, and how to have one sent."""
    found = Page.of("README.md").blocks()
    assert [block.language for block in found] == ["bash", "bash", "bash", "json", "bash", "bash"]
    return [block.text for block in found]


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
    """Run commands of which the last one stays, as in a terminal of its own; what it has printed so far."""
    *before, last = command.strip().splitlines()
    process = subprocess.Popen(
        ["bash", "-ec", "\n".join([*before, f"exec {last}"])],
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
    setup, dev, scan, expected, receive, scan_again = blocks()
    copy_to(tmp_path)
    tmp_path.chmod(0o755)
    env = {name: value for name, value in os.environ.items() if not name.startswith("GATEPASS_")}
    env |= {"GATEPASS_PORT": str(free_port()), "UV_LINK_MODE": "copy"}
    began = time.monotonic()
    subprocess.run(["bash", "-ec", setup], cwd=tmp_path, env=env, check=True, capture_output=True)
    with running(dev, tmp_path, env) as lines:
        wait_for("curl", lines, PROMISED_SECONDS)
        answer = pasted(scan, tmp_path, env)
        took = time.monotonic() - began
        assert json.loads(answer) == json.loads(expected)
        receive_a_webhook(tmp_path, env, scan.splitlines()[0] + "\n" + receive, scan_again)
    print(f"from a clean clone to the first scan: {took:.1f} s")
    assert took < PROMISED_SECONDS


def receive_a_webhook(folder: Path, env: dict[str, str], receive: str, scan: str) -> None:
    """With the receiver of the page that the README leads to, on a port that is free."""
    (folder / "receiver.py").write_text(receiver_code().text)
    port = free_port()
    with running(receive.replace(":9000/", f":{port}/"), folder, {**env, "PORT": str(port)}) as lines:
        wait_until_listening(port)
        assert "ticket_id" in pasted(scan, folder, env)
        wait_for("ticket.activated evt_", lines, PROMISED_SECONDS)
