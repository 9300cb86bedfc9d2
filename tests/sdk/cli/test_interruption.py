"""Ctrl-C ends a command also where Python loses it: in a finalizer, or when SIGINT was ignored before it began."""

import signal
from collections.abc import Generator

import pytest

from gatepass_sdk.cli.interruption import until_interrupted


class Finalized:
    def __del__(self) -> None:
        signal.raise_signal(signal.SIGINT)


@pytest.fixture
def ignored() -> Generator[None]:
    """As a shell has it for what it starts in the background."""
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)
    yield
    signal.signal(signal.SIGINT, before)


@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
def test_an_interrupt_that_a_finalizer_swallows_comes_at_the_next_step() -> None:
    steps: list[str] = []
    with until_interrupted() as interruption:
        interruption.check()
        Finalized()
        steps.append("after the finalizer")
        interruption.check()
        steps.append("never")
    assert steps == ["after the finalizer"]


def test_it_ends_although_the_signal_was_ignored_before(ignored: None) -> None:
    steps: list[str] = []
    with until_interrupted():
        signal.raise_signal(signal.SIGINT)
        steps.append("never")
    assert steps == []
    assert signal.getsignal(signal.SIGINT) is signal.SIG_IGN


def test_a_second_signal_does_not_break_off_the_end() -> None:
    cleaned: list[str] = []
    with until_interrupted():
        try:
            signal.raise_signal(signal.SIGTERM)
        finally:
            signal.raise_signal(signal.SIGINT)
            cleaned.append("all")
    assert cleaned == ["all"]
