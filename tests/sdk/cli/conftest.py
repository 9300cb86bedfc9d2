"""A terminal for each test: a sandbox key in its environment, or a live one."""

from collections.abc import Generator
from pathlib import Path

import pytest

from tests.sdk.cli.receiver import LocalReceiver, receiving
from tests.sdk.cli.terminal import Terminal
from tests.sdk.stack import Stack


@pytest.fixture
def sandbox(stack: Stack, tmp_path: Path) -> Terminal:
    return Terminal(tmp_path, stack.base_url, stack.key("sandbox"), _secrets(stack))


@pytest.fixture
def live(stack: Stack, tmp_path: Path) -> Terminal:
    return Terminal(tmp_path, stack.base_url, stack.key("live"), _secrets(stack))


@pytest.fixture
def receiver() -> Generator[LocalReceiver]:
    with receiving() as started:
        yield started


def _secrets(stack: Stack) -> list[str]:
    tokens = [card["token"] for card in stack.demo["cards"]["unused"]]
    return [*stack.demo["keys"].values(), *tokens]
