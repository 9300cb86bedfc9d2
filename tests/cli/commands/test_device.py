"""Pairing a device from the operator's terminal: a code, two words, and the device that shows them."""

import re
from base64 import urlsafe_b64encode
from typing import Any

import pytest
from nacl.signing import SigningKey

from tests.cli.command import Command
from tests.cli.gate import DEMO, serving

NOBODY = "No device asks and shows these words. Make another code.\n"


def test_a_device_is_paired_by_the_words_that_it_shows(demo_command: Command, demo: dict[str, Any]) -> None:
    told = demo_command.cold("device", "code", DEMO, demo["events"]["published"], "--gate", "North 2")
    code = told.stdout.strip()
    assert re.fullmatch("[A-Z0-9]{5}-[A-Z0-9]{5}", code), told.stderr
    public_key = urlsafe_b64encode(bytes(SigningKey.generate().verify_key)).rstrip(b"=").decode()
    with serving(demo_command) as client:
        origin = str(client.base_url.copy_with(path="/"))
        asked = client.post(f"{origin}gate/pair/{code}", json={"public_key": public_key, "name": "Reader 1"})
        assert asked.status_code == 202, asked.text
        words = asked.json()["data"]["words"]
        assert demo_command("device", "confirm", DEMO, "not", "these").stderr == NOBODY
        assert demo_command("device", "confirm", DEMO, *words).stdout == "Reader 1 works at North 2.\n"
        assert demo_command("device", "confirm", DEMO, *words).stderr == NOBODY


@pytest.mark.parametrize(
    ("arguments", "code", "told"),
    [
        (("no-id", "--gate", "North 2"), 2, "An event is named by its id."),
        (("00000000-0000-0000-0000-000000000009", "--gate", "North 2"), 1, "has no event with the id"),
        (("{event}", "--gate", ""), 1, "gate has 1 to 64 printable characters."),
        (("{event}", "--gate", "North 2", "--devices", "51"), 1, "A code is for 1 to 50 devices."),
    ],
)
def test_what_cannot_be_paired_is_told(
    demo_command: Command, demo: dict[str, Any], arguments: tuple[str, ...], code: int, told: str
) -> None:
    given = [argument.format(event=demo["events"]["published"]) for argument in arguments]
    answer = demo_command("device", "code", DEMO, *given)
    assert (answer.returncode, told in answer.stderr) == (code, True), answer.stderr
