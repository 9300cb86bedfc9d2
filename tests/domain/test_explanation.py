"""No code is left unexplained, and none is explained that nobody meets."""

import pytest

from gatepass.api import reception
from gatepass.api.errors import STATUS
from gatepass.domain import explanation
from gatepass.domain.explanation import EXPLAINED, Explanation, explain


def test_every_code_of_the_api_is_explained() -> None:
    """That every refusal stands in STATUS is asserted beside it."""
    assert EXPLAINED.keys() == {kind.code for kind in STATUS}


def test_a_caller_who_hung_up_is_explained_too() -> None:
    assert reception.HUNG_UP == explanation.HUNG_UP
    assert explain(499, None) is explanation.NOBODY_WAITED


@pytest.mark.parametrize("one", [*EXPLAINED.values(), explanation.NOBODY_WAITED], ids=[*EXPLAINED, "hung up"])
def test_explanations_are_sentences(one: Explanation) -> None:
    assert one.means.endswith(".")
    assert one.mend.endswith(".")


def test_what_went_well_needs_none() -> None:
    assert explain(200, None) is None
