"""The README of the SDK: each block runs as it is pasted, in a clean environment, against the real service."""

import json
import time
from http.client import HTTPConnection
from itertools import pairwise

import pytest

from gatepass_sdk import errors, webhooks
from tests.markdown_page import Block, Page
from tests.postgres import free_port
from tests.processes import wait_until_listening
from tests.sdk.installed import Installed
from tests.sdk.stack import Stack
from tests.worker.documented_receiver import WITHIN

PAGE = Page.of("sdk/README.md")
SECRET = "whsec_dGhlIHNlY3JldCBvZiB0aGlzIHRlc3Q="
ACTIVATION = {
    "id": "evt_1",
    "type": "ticket.activated",
    "organization_id": "org",
    "created_at": "2026-05-01T18:00:00Z",
    "data": {
        "ticket_id": "ticket",
        "event_id": "event",
        "card_number": "SVC 1234 5678 9012",
        "activated_at": "2026-05-01T18:00:00Z",
    },
}


def examples() -> list[tuple[Block, str | None]]:
    """Every block of Python, with its output if the next block shows it."""
    blocks = [*PAGE.blocks(), Block("", "", "")]
    return [
        (block, after.text if after.language == "text" else None)
        for block, after in pairwise(blocks)
        if block.language == "python"
    ]


def has_a_test_of_its_own(block: Block) -> bool:
    """The receiver has one below; the suite for pytest is run by `contract/`, where pytest is, the gate by `gate/`."""
    return any(part in block.text for part in ("serve_forever", "import pytest", "import Gate\n"))


@pytest.mark.parametrize(
    ("block", "printed"),
    [pytest.param(*each, id=each[0].heading) for each in examples() if not has_a_test_of_its_own(each[0])],
)
def test_a_block_runs_as_pasted(installed: Installed, stack: Stack, block: Block, printed: str | None) -> None:
    env = {"GATEPASS_API_KEY": stack.key("sandbox"), "GATEPASS_BASE_URL": stack.base_url}
    output = installed.run("-c", block.text, env=env)
    assert printed is None or output == printed


def test_the_receiver_takes_our_messages_and_no_others(installed: Installed) -> None:
    (block,) = [block for block, _ in examples() if "serve_forever" in block.text]
    port = free_port()
    with installed.started("-c", block.text, env={"WEBHOOK_SECRET": SECRET, "PORT": str(port)}) as process:
        wait_until_listening(process, port)
        body = json.dumps(ACTIVATION).encode()
        assert post(port, body, webhooks.sign(body, SECRET, at=time.time())) == 204
        assert process.stdout is not None
        assert process.stdout.readline() == "evt_1 SVC 1234 5678 9012\n"
        assert post(port, body, webhooks.sign(body, "whsec_another", at=time.time())) == 400
        assert post(port, body + b" ", webhooks.sign(body, SECRET, at=time.time())) == 400
        assert post(port, body, webhooks.sign(body, SECRET, at=time.time() - 3600)) == 400


def post(port: int, body: bytes, signature: str) -> int:
    connection = HTTPConnection("127.0.0.1", port, timeout=WITHIN)
    connection.request("POST", "/", body, {"x-svc-signature": signature})
    status = connection.getresponse().status
    connection.close()
    return status


def test_the_table_of_errors_has_every_class() -> None:
    named = {name for row in PAGE.table("class") for name in row[0].replace("`", "").split(", ")}
    kinds = [kind for kind in vars(errors).values() if isinstance(kind, type) and issubclass(kind, Exception)]
    raised = {kind.__name__ for kind in kinds}
    elsewhere = {"GatepassError", "APIStatusError", "ConfigurationError", "WebhookVerificationError"}
    elsewhere |= {"QueueError", "QueueInUse", "GateError", "GateInUse", "PairingEnded"}
    assert named == raised - elsewhere
