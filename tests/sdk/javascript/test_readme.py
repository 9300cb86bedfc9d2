"""The README of the SDK and its page: each block runs as it is pasted, in a clean project, against the real service."""

import json
import time
from itertools import pairwise

import pytest

from gatepass_sdk import webhooks
from tests.markdown_page import Block, Page
from tests.postgres import free_port
from tests.processes import wait_until_listening
from tests.sdk.javascript.node import Project
from tests.sdk.package.test_readme import ACTIVATION, SECRET, post
from tests.sdk.package.test_readme import PAGE as OF_PYTHON
from tests.sdk.stack import Stack

PAGE = Page.of("sdk-js/README.md")
REFERENCE = Page.of("docs/reference/sdk-js.md")


def examples(page: Page) -> list[tuple[Block, str | None]]:
    """Every block of JavaScript, with its output if the next block shows it."""
    blocks = [*page.blocks(), Block("", "", "")]
    return [
        (block, after.text if after.language == "text" else None)
        for block, after in pairwise(blocks)
        if block.language == "javascript" and not block.not_run
    ]


def is_receiver(block: Block) -> bool:
    return "createServer" in block.text


RUN = {
    f"{page.name} {block.heading}": (block, printed)
    for page in (PAGE, REFERENCE)
    for block, printed in examples(page)
    if not is_receiver(block)
}


@pytest.mark.parametrize(("block", "printed"), RUN.values(), ids=RUN)
def test_a_block_runs_as_pasted(project: Project, stack: Stack, block: Block, printed: str | None) -> None:
    # What makes events has a sandbox of its own, so that the other blocks see the fictional one alone.
    key = stack.key("other_sandbox" if "events.create" in block.text else "sandbox")
    env = {"GATEPASS_API_KEY": key, "GATEPASS_BASE_URL": stack.base_url}
    output = project.run("readme.mjs", block.text, env)
    assert printed is None or output == printed


def test_every_block_is_run_or_says_why_not() -> None:
    for page in (PAGE, REFERENCE):
        for block in page.blocks():
            assert block.language in ("javascript", "text") or block.not_run, f"{page.name}:{block.line}"


def test_the_receiver_takes_our_messages_and_no_others(project: Project) -> None:
    (block,) = [block for block, _ in examples(PAGE) if is_receiver(block)]
    port = free_port()
    with project.started("receiver.mjs", block.text, {"WEBHOOK_SECRET": SECRET, "PORT": str(port)}) as process:
        wait_until_listening(process, port)
        body = json.dumps(ACTIVATION).encode()
        assert post(port, body, webhooks.sign(body, SECRET, at=time.time())) == 204
        assert process.stdout is not None
        assert process.stdout.readline() == "evt_1 SVC 1234 5678 9012\n"
        assert post(port, body, webhooks.sign(body, "whsec_another", at=time.time())) == 400
        assert post(port, body + b" ", webhooks.sign(body, SECRET, at=time.time())) == 400
        assert post(port, body, webhooks.sign(body, SECRET, at=time.time() - 3600)) == 400


def test_the_table_of_errors_is_that_of_python() -> None:
    assert PAGE.table("class") == OF_PYTHON.table("class")
