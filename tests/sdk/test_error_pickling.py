"""Errors keep all their fields when they are pickled, as between the processes of a pool."""

import pickle

from gatepass_sdk import AlreadyUsed, APITimeoutError


def test_a_refusal_is_the_same_after_a_pickle() -> None:
    error = AlreadyUsed("Used.", status=409, code="already_activated", request_id="req_1", details={"gate": "North 2"})
    error.idempotency_key = "key"
    copy = pickle.loads(pickle.dumps(error))  # noqa: S301
    assert type(copy) is AlreadyUsed
    assert (str(copy), vars(copy)) == (str(error), vars(error))


def test_a_lost_answer_is_still_unknown_after_a_pickle() -> None:
    error = APITimeoutError("No answer came back.")
    error.outcome_unknown = True
    assert pickle.loads(pickle.dumps(error)).outcome_unknown  # noqa: S301
