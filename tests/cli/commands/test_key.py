"""The rates of keys, from the command line, in front of a running process."""

import json
from typing import Any

import pytest

from tests.cli.command import Command
from tests.cli.gate import DEMO, Gate, serving

LIMITED = (429, "rate_limited")


def test_a_running_process_notices_a_new_rate(demo_command: Command, demo: dict[str, Any]) -> None:
    listed = [json.loads(line) for line in demo_command.cold("key", "list", DEMO, "--json").stdout.splitlines()]
    live = next(one for one in listed if one["shown"].endswith(demo["keys"]["tickets_activate"][-4:]))
    told = demo_command("key", "rate", live["id"], "--per-second", "1", "--burst", "1")
    assert told.stdout == f"{live['name']}: 1 calls a second, 1 at once.\n"
    assert json.loads(told.stderr)["event"] == "key_rate_chosen"
    with serving(demo_command) as client:
        gate = Gate(client, demo, demo["keys"]["tickets_activate"])
        answers = [gate.scan() for _ in range(4)]
        assert answers[0][0] == 200
        assert LIMITED in answers
        assert demo_command("key", "rate", live["id"], "--per-second", "1000").stdout.endswith(
            "1000 calls a second, 2000 at once.\n"
        )
        # One more may be refused: it makes the process read the key again.
        statuses = [gate.scan()[0] for _ in range(20)]
        assert (statuses.count(429) <= 1, set(statuses[2:])) == (True, {200}), statuses
    assert demo_command("key", "rate", live["id"], "--default").stdout.endswith("100 calls a second, 200 at once.\n")
    assert demo_command("key", "rate", live["id"]).stdout.endswith("100 calls a second, 200 at once.\n")


@pytest.mark.parametrize(
    ("arguments", "code", "told"),
    [
        (("North gate",), 2, "A key is named by its id, which `gatepass key list` shows."),
        (("00000000-0000-0000-0000-000000000009",), 1, "There is no API key with the id"),
        (("00000000-0000-0000-0000-000000000009", "--default", "--burst", "3"), 2, "not both"),
        (("00000000-0000-0000-0000-000000000009", "--per-second", "0"), 2, "--per-second"),
        (("00000000-0000-0000-0000-000000000009", "--burst", "1000001"), 2, "--burst"),
    ],
)
def test_what_cannot_be_chosen_is_told(demo_command: Command, arguments: tuple[str, ...], code: int, told: str) -> None:
    answer = demo_command("key", "rate", *arguments)
    assert (answer.returncode, told in answer.stderr) == (code, True), answer.stderr
