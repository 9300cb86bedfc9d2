"""Keys are stored by name, readable by their owner only. Options come before variables, variables before profiles."""

import json
import stat

from tests.sdk.cli.terminal import Terminal
from tests.sdk.stack import Stack


def test_keys_are_kept_by_name_and_for_their_owner_only(live: Terminal, stack: Stack) -> None:
    live.key = None
    first = live.run("login", stdin=stack.key("sandbox") + "\n")
    assert (first.code, "profile default" in first.out) == (0, True)
    second = live.run("login", "--profile", "gate", "--json", stdin=stack.key("tickets_activate"))
    assert second.object == {"profile": "gate", "mode": "live", "base_url": stack.base_url}
    file = live.home / "config" / "gatepass" / "profiles.json"
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    assert json.loads(file.read_text())["profiles"]["default"]["api_key"] == stack.key("sandbox")

    live.base_url = ""
    listed = live.run("profiles", "--json").objects
    assert [(one["profile"], one["mode"], one["default"]) for one in listed] == [
        ("default", "sandbox", True),
        ("gate", "live", False),
    ]
    assert live.run("profiles", "use", "gate").code == 0
    assert live.run("profiles", "remove", "default").code == 0
    assert live.run("profiles").out.split("\n")[1].split() == ["gate", "live", stack.base_url, "default"]
    assert "default" not in json.loads(file.read_text())["profiles"]


def test_a_key_that_does_not_work_is_not_kept(live: Terminal, stack: Stack) -> None:
    live.key = None
    revoked = live.run("login", "--json", stdin=stack.key("revoked"))
    assert (revoked.code, revoked.error["code"]) == (3, "invalid_key")
    nothing = live.run("status")
    assert (nothing.code, nothing.out) == (3, "")
    assert "gatepass-cli login" in nothing.err
    assert not (live.home / "config" / "gatepass" / "profiles.json").exists()


def test_an_option_comes_before_a_variable_and_a_variable_before_a_profile(live: Terminal, stack: Stack) -> None:
    live.run("login", "--profile", "box", stdin=stack.key("sandbox"))
    by_variable = live.run("status", "--json").object
    assert (by_variable["mode"], by_variable["profile"]) == ("live", None)
    assert 0 < by_variable["rate_left"] < by_variable["rate_burst"]
    by_option = live.run("whoami", "--json", "-p", "box").object
    assert (by_option["mode"], by_option["profile"], by_option["base_url"]) == ("sandbox", "box", stack.base_url)
    live.key = None
    by_profile = live.run("status", env={"GATEPASS_PROFILE": "box"})
    assert ["mode", "sandbox"] in [line.split() for line in by_profile.out.splitlines()]
    assert live.run("status", env={"GATEPASS_PROFILE": "nobody"}).code == 2
