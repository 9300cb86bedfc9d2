"""A forked process is like one that is started: the same program, and nothing of pytest or of the zygote."""

import json
import os
import re
import signal
import subprocess
import sys
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

import pytest

from gatepass import __version__
from tests.postgres import free_port
from tests.processes import PROGRAM, GatepassProcess, cold, page_of, serve
from tests.warm import processes as warm
from tests.warm.processes import ROOT, WarmProcess

WITHIN = 60.0
HEADER = f"#!{sys.executable}\n"
# What a process can say of itself.
STATE = """
import gc, json, os, random, signal, sys, threading, uuid
from gatepass.base.ids import new_id
status = dict(line.split(":", 1) for line in open("/proc/self/status").read().splitlines())
files = {name: os.readlink(f"/proc/self/fd/{name}") for name in os.listdir("/proc/self/fd")
         if os.path.exists(f"/proc/self/fd/{name}")}
print(json.dumps({
    "environment": dict(os.environ), "folder": os.getcwd(), "arguments": sys.argv, "name": __name__,
    "files": sorted(files), "path": sys.path[0], "main": sys.modules["__main__"].__file__,
    "signals": {name: status[name].strip() for name in ("SigBlk", "SigIgn", "SigCgt", "Umask", "Threads")},
    "handlers": [str(signal.getsignal(one)) for one in (signal.SIGINT, signal.SIGTERM, signal.SIGPIPE, signal.SIGCHLD)],
    "group": os.getpgid(0), "session": os.getsid(0), "threads": threading.active_count(), "gc": gc.isenabled(),
    "streams": [(one.encoding, one.errors, one.line_buffering) for one in (sys.stdin, sys.stdout, sys.stderr)],
}))
print(random.getrandbits(128), new_id().hex[16:], uuid.uuid4())
"""

Start = Callable[[Sequence[str], Mapping[str, str]], "subprocess.Popen[str]"]


@pytest.fixture
def script(tmp_path: Path) -> Callable[[str], str]:
    """The path of an executable file with this program."""

    def write(text: str) -> str:
        path = tmp_path / "script"
        path.write_text(HEADER + text)
        path.chmod(0o755)
        return str(path)

    return write


def told(process: subprocess.Popen[str]) -> str:
    with process:
        said, _ = process.communicate(timeout=WITHIN)
    return said


def test_it_is_the_installed_program() -> None:
    process = WarmProcess([PROGRAM, "--version"], os.environ)
    assert told(process) == f"gatepass {__version__}\n"
    assert process.returncode == 0


def test_it_has_what_a_started_process_has(script: Callable[[str], str], monkeypatch: pytest.MonkeyPatch) -> None:
    """Its environment, folder, files, signals, group, streams; not one of the zygote's."""
    monkeypatch.setenv("GATEPASS_LOG_LEVEL", "of pytest")
    environment = {**os.environ, "GATEPASS_CELL": "k"}
    environment.pop("GATEPASS_LOG_LEVEL")
    path = script(STATE)
    starts: list[Start] = [cold, WarmProcess]
    states = [json.loads(told(start([path, "one", "two"], environment)).splitlines()[0]) for start in starts]
    assert states[0] == states[1]
    assert "GATEPASS_LOG_LEVEL" not in states[1]["environment"]


def test_two_of_them_share_no_random_number(script: Callable[[str], str]) -> None:
    path = script(STATE)
    drawn = [told(WarmProcess([path], os.environ)).splitlines()[1].split() for _ in range(2)]
    assert all(one != other for one, other in zip(*drawn, strict=True))


def test_it_runs_in_the_folder_that_is_asked_for(script: Callable[[str], str], tmp_path: Path) -> None:
    path = script("import os; print(os.getcwd())")
    assert told(WarmProcess([path], os.environ, folder=tmp_path)) == f"{tmp_path}\n"


@pytest.mark.parametrize(
    ("program", "code"),
    [
        ("", 0),
        ("raise SystemExit", 0),
        ("raise SystemExit(7)", 7),
        ("raise SystemExit('why')", 1),
        ("1 / 0", 1),
        ("raise KeyboardInterrupt", -signal.SIGINT),
        ("import os; os._exit(9)", 9),
        ("import os; os.kill(os.getpid(), 9)", -signal.SIGKILL),
        ("import atexit, os; atexit.register(os._exit, 5)", 5),
    ],
)
def test_its_exit_code_is_told(script: Callable[[str], str], program: str, code: int) -> None:
    path = script(program)
    for start in (cold, WarmProcess):
        process = start([path], os.environ)
        told(process)
        assert process.returncode == code


def test_both_outputs_are_read_apart_and_nothing_of_them_is_lost(script: Callable[[str], str]) -> None:
    path = script("import sys; print('o' * 1_000_000); print('e' * 1_000_000, file=sys.stderr)")
    process = WarmProcess([path], os.environ, stderr=subprocess.PIPE)
    with process:
        assert process.communicate(timeout=WITHIN) == ("o" * 1_000_000 + "\n", "e" * 1_000_000 + "\n")


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGKILL, signal.SIGINT])
def test_it_ends_by_a_signal(script: Callable[[str], str], number: signal.Signals) -> None:
    path = script("import signal; print('begun', flush=True); signal.pause()")
    with WarmProcess([path], os.environ) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "begun\n"
        assert process.poll() is None
        with pytest.raises(subprocess.TimeoutExpired):
            process.wait(0)
        process.send_signal(number)
        assert process.wait(WITHIN) == process.poll() == -number
        process.kill()  # and a second signal goes nowhere


def test_it_waits_for_processes_and_threads_of_its_own(script: Callable[[str], str]) -> None:
    path = script(
        "import os, subprocess, sys, threading\n"
        "print(subprocess.run([sys.executable, '-c', 'print(6 * 7)'], capture_output=True, text=True).stdout.strip())\n"
        "child = os.fork()\n"
        "if not child: os._exit(3)\n"
        "print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), flush=True)\n"
        "threading.Thread(target=lambda: print('last')).start()\n"
    )
    assert told(WarmProcess([path], os.environ)) == "42\n3\nlast\n"


def test_a_variable_that_an_import_may_have_read_is_refused() -> None:
    with pytest.raises(AssertionError, match=r"TYPER_USE_RICH.*start cold"):
        WarmProcess([PROGRAM, "--version"], {**os.environ, "TYPER_USE_RICH": "0"})


def test_no_setting_is_read_by_an_import() -> None:
    """So a process finds its own settings, whatever the zygote was started with."""
    reads = (
        "import os\n"
        "class Reported(type(os.environ)):\n"
        "    def __getitem__(self, name):\n"
        "        print(name)\n"
        "        return super().__getitem__(name)\n"
        "os.environ.__class__ = Reported\n"
        "from tests.warm.zygote import import_program\n"
        "import_program()\n"
    )
    found = subprocess.run([sys.executable, "-c", reads], cwd=ROOT, capture_output=True, text=True, check=True).stdout
    assert "NO_COLOR" in found.splitlines(), "nothing is reported"
    assert [name for name in found.splitlines() if name.startswith("GATEPASS_") and name not in os.environ] == []


def test_a_server_has_the_metrics_of_one_that_is_started(settings_env: dict[str, str]) -> None:
    def figures(start: Start) -> set[str]:
        metrics = free_port()
        environment = {**settings_env, "GATEPASS_METRICS_PORT": str(metrics), "GATEPASS_CELL": "k"}
        server = serve(environment, free_port(), start=start)
        try:
            assert server.is_alive()
            status, text = page_of(f"http://127.0.0.1:{metrics}/metrics")
        finally:
            assert server.stop() == 0
        assert status == 200
        return set(re.findall(r"^[a-z]\S*", text, re.MULTILINE))

    assert figures(cold) == figures(WarmProcess)


def test_all_of_them_end_with_pytest(script: Callable[[str], str]) -> None:
    """Also if pytest is killed."""
    path = script("import signal; print('begun', flush=True); signal.pause()")
    program = (
        "import os\n"
        "from tests.warm.processes import WarmProcess\n"
        f"process = WarmProcess([{path!r}], os.environ)\n"
        "process.stdout.readline()\n"
        "print(process.pid, os.getpgid(process.pid), open(f'/proc/{process.pid}/stat').read().split()[3], flush=True)\n"
        "process.wait()\n"
    )
    with subprocess.Popen([sys.executable, "-c", program], cwd=ROOT, stdout=subprocess.PIPE, text=True) as pytest_like:
        assert pytest_like.stdout is not None
        pid, _, zygote = map(int, pytest_like.stdout.readline().split())
        watched = [os.pidfd_open(one) for one in (pid, zygote)]
        pytest_like.kill()
    for one in watched:
        assert warm.is_readable(one, WITHIN), "it goes on"
        os.close(one)


def test_who_waits_learns_that_the_zygote_was_killed(script: Callable[[str], str]) -> None:
    path = script("import signal; signal.pause()")
    own = warm.Zygote()
    files = [os.open(os.devnull, os.O_RDWR) for _ in range(3)]
    _, life = own.fork(warm.Order([path], dict(os.environ), str(ROOT)), files)
    own.process.kill()
    assert warm.is_readable(life, WITHIN)
    assert os.read(life, 4) == b""
    for file in (*files, life):
        os.close(file)


def test_a_worker_says_when_it_works(settings_env: dict[str, str]) -> None:
    worker: GatepassProcess = warm.launch_worker(settings_env)
    worker.wait_for_line("delivers webhooks")
    assert worker.stop() == 0
