"""The attacks as a whole: enough of them, and each finding of the security review among them."""

from pathlib import Path

import pytest

HERE = Path(__file__).parent
FINDINGS = range(1, 21)
AT_LEAST = 400


def attempts(session: pytest.Session) -> list[pytest.Item]:
    return [item for item in session.items if item.path.is_relative_to(HERE) and item.path != Path(__file__)]


def test_there_are_enough_attempts(request: pytest.FixtureRequest) -> None:
    assert len(attempts(request.session)) >= AT_LEAST


@pytest.mark.parametrize("finding", FINDINGS)
def test_each_finding_is_attempted_again(request: pytest.FixtureRequest, finding: int) -> None:
    marked = {mark.args[0] for item in attempts(request.session) for mark in item.iter_markers("finding")}
    assert finding in marked
