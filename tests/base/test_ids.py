"""Ids that contain the time when they were made."""

from datetime import UTC, datetime, timedelta
from uuid import UUID, uuid4

import pytest

from gatepass.base.ids import moment_of, new_id, request_id, request_text


def test_an_id_tells_when_it_was_made() -> None:
    moment = moment_of(new_id())
    assert moment is not None
    assert abs(moment - datetime.now(UTC)) < timedelta(seconds=5)


@pytest.mark.parametrize("id", [uuid4(), UUID(int=0), UUID("ffffffff-ffff-7fff-bfff-ffffffffffff")])
def test_an_id_that_tells_no_time(id: UUID) -> None:
    assert moment_of(id) is None


def test_a_request_id_is_read_as_it_is_written() -> None:
    id = new_id()
    assert request_id(request_text(id)) == id


@pytest.mark.parametrize("text", ["", "req_", "req_" + "g" * 32, "req_" + "A" * 32, " req_" + "a" * 32, "a" * 32])
def test_what_is_no_request_id(text: str) -> None:
    assert request_id(text) is None
