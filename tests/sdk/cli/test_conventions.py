"""Conventions of a command line: exit codes, colours, completion, and the message without the extra."""

import subprocess
import sys
from datetime import UTC, datetime
from pathlib import Path
from uuid import UUID

import pytest

from gatepass.domain import keys
from gatepass.domain.lifecycle import suspension
from tests import factory
from tests.postgres import free_port
from tests.sdk.cli.terminal import PROGRAM, Terminal
from tests.sdk.stack import Stack


def test_a_key_without_the_scope_is_told_apart(live: Terminal, stack: Stack) -> None:
    live.key = stack.key("events_read")
    refused = live.run("verify", "SVC1.x.0.0", "--json")
    assert (refused.code, refused.out, refused.error["code"]) == (3, "", "insufficient_scope")
    assert refused.error["request_id"].startswith("req_")


@pytest.mark.parametrize("path", ["", "/api/public/v2"])
@pytest.mark.parametrize("command", [("scan", "TEST_VIP"), ("events",), ("status",), ("verify", "SVC1.TEST_VIP.0.0")])
def test_a_base_url_that_is_wrong_refuses_nobody(sandbox: Terminal, path: str, command: tuple[str, ...]) -> None:
    wrong = sandbox.base_url.replace("/api/public/v1", path)
    ran = sandbox.run(*command, "--base-url", wrong)
    assert (ran.code, ran.out) == (2, ""), ran
    assert ran.err.startswith(f"There is no Gatepass API at {wrong}. Check --base-url")
    in_json = sandbox.run(*command, "--base-url", wrong, "--json")
    assert (in_json.code, in_json.out, in_json.error["exit_code"]) == (2, "", 2)


def test_a_key_is_not_kept_for_a_base_url_that_is_wrong(sandbox: Terminal, stack: Stack) -> None:
    sandbox.key = None
    ran = sandbox.run("login", "--base-url", f"{stack.base_url}x", stdin=stack.key("sandbox"))
    assert (ran.code, ran.out) == (2, "")
    assert "There is no Gatepass API at" in ran.err


def test_an_empty_key_is_none(sandbox: Terminal) -> None:
    ran = sandbox.run("scan", "TEST_VIP", env={"GATEPASS_API_KEY": ""})
    assert (ran.code, ran.err) == (3, "There is no API key. Run gatepass-cli login, or set GATEPASS_API_KEY.\n")


async def test_a_suspended_organization_is_told_and_nobody_is_refused(live: Terminal, stack: Stack) -> None:
    organization_id = UUID(stack.demo["organization_id"])
    db = factory.database(stack.database_url, connections=1)
    try:
        async with db.transaction() as tx:
            await suspension.suspend(tx, organization_id, reason="x", by="test", at=datetime.now(UTC))
        told = [live.run("scan", "SVC 0000", "--event", stack.event_id), live.run("status")]
    finally:
        async with db.transaction() as tx:
            await suspension.resume(tx, organization_id, by="test", at=datetime.now(UTC))
        await db.close()
    assert [(one.code, one.out, "is suspended" in one.err) for one in told] == [(3, "", True)] * 2


def test_no_answer_is_no_verdict(sandbox: Terminal) -> None:
    nowhere = f"http://127.0.0.1:{free_port()}/api/public/v1"
    ran = sandbox.run("scan", "TEST_VALID", "--base-url", nowhere, "--timeout", "0.3", "--json")
    assert (ran.code, ran.object["verdict"], ran.object["outcome_unknown"]) == (4, "unknown", False)
    assert ran.object["idempotency_key"]


async def test_a_service_that_is_too_busy_is_told_apart(live: Terminal, stack: Stack) -> None:
    """Six scans follow each other within five seconds, and the key allows one per second."""
    live.key = await slow_key(stack)
    ran = live.run("scan", *["SVC 0000"] * 6, "--event", stack.event_id, "--timeout", "0.3", "--json")
    assert ran.code == 5
    found = {(one["verdict"], one["code"]) for one in ran.objects}
    assert found == {("refused", "card_not_found"), ("unknown", "rate_limited")}


async def slow_key(stack: Stack) -> str:
    db = factory.database(stack.database_url, connections=1)
    organization_id = UUID(stack.demo["organization_id"])
    try:
        async with db.transaction() as tx:
            issued = await keys.issue(
                tx,
                organization_id,
                "slow",
                keys.Mode.LIVE,
                [keys.Scope.TICKETS_ACTIVATE],
                cell="a",
                by="test",
                at=datetime.now(UTC),
                rate_per_second=1,
                burst=1,
            )
    finally:
        await db.close()
    return issued.text


def test_colours_are_for_terminals_and_not_for_those_who_refuse_them(sandbox: Terminal) -> None:
    assert "\x1b[" in sandbox.run_in_pty("scan", "TEST_VALID")
    plain = sandbox.run_in_pty("scan", "TEST_VALID", env={"NO_COLOR": "1"})
    assert "ENTER" in plain
    assert "\x1b" not in plain


def test_help_tells_the_exit_codes_and_wrong_usage_is_two(sandbox: Terminal) -> None:
    assert "4 no answer" in " ".join(sandbox.run("--help").out.split())
    assert sandbox.run("scan", "--nonsense").code == 2
    in_json = sandbox.run("trigger", "nonsense", "--json")
    assert (in_json.code, in_json.error["exit_code"], in_json.out) == (2, 2, "")


def test_completion_installs_itself_in_the_shell_that_asks(sandbox: Terminal) -> None:
    """Typer finds the shell by its parent process."""
    command = ["bash", "-c", f"{PROGRAM} --install-completion; exit $?"]
    subprocess.run(command, env=sandbox.environment, check=True, capture_output=True)
    subprocess.run(["bash", "-n", sandbox.home / ".bash_completions" / "gatepass-cli.sh"], check=True)
    assert "gatepass-cli.sh" in (sandbox.home / ".bashrc").read_text()


@pytest.mark.parametrize("shell", ["zsh", "fish"])
def test_completion_has_a_script_for_other_shells(sandbox: Terminal, shell: str) -> None:
    script = sandbox.run(env={"_GATEPASS_CLI_COMPLETE": f"source_{shell}"}).out
    assert "gatepass-cli" in script
    assert "_GATEPASS_CLI_COMPLETE" in script


def test_completion_knows_commands_and_profiles(sandbox: Terminal) -> None:
    sandbox.run("login", "-p", "stadium", "--no-check", stdin="svc_test_x")

    def completed(words: str) -> list[str]:
        place = str(len(words.split(" ")) - 1)
        environment = {"_GATEPASS_CLI_COMPLETE": "complete_bash", "COMP_WORDS": words, "COMP_CWORD": place}
        return sandbox.run(env=environment).out.split()

    assert completed("gatepass-cli sc") == ["scan"]
    assert completed("gatepass-cli status --profile st") == ["stadium"]
    assert completed("gatepass-cli trigger ticket.a") == ["ticket.activated"]


def test_without_its_extra_it_says_how_to_get_it(tmp_path: Path) -> None:
    """A path that has everything but typer, as after `pip install gatepass-sdk`."""
    (site,) = {Path(path) for path in sys.path if path.endswith("site-packages")}
    for entry in site.iterdir():
        if not entry.name.startswith("typer"):
            (tmp_path / entry.name).symlink_to(entry)
    sdk = Path(__file__).parents[3] / "sdk"
    code = f"import sys; sys.path[:0] = [{str(tmp_path)!r}, {str(sdk)!r}]; from gatepass_sdk.cli import run; run()"
    ran = subprocess.run([sys.executable, "-S", "-c", code], env={}, capture_output=True, text=True, check=False)
    assert (ran.returncode, ran.stdout) == (2, "")
    assert ran.stderr.splitlines()[-1].endswith('pip install "gatepass-sdk[cli]"')
    assert len(ran.stderr.splitlines()) == 1
