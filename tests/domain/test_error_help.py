"""Every error code of the API has help, and there is no help for other codes."""

import pytest

from gatepass.api import middleware
from gatepass.api.responses import STATUS
from gatepass.domain import error_help
from gatepass.domain.error_help import ERROR_HELP, ErrorHelp, help_for


def test_every_code_of_the_api_is_explained() -> None:
    """Another test asserts that every refusal is in STATUS."""
    assert ERROR_HELP.keys() == {kind.code for kind in STATUS}


def test_a_caller_who_hung_up_is_explained_too() -> None:
    assert middleware.HUNG_UP == error_help.CLIENT_CLOSED
    assert help_for(499, None) is error_help.CLIENT_CLOSED_HELP


@pytest.mark.parametrize("one", [*ERROR_HELP.values(), error_help.CLIENT_CLOSED_HELP], ids=[*ERROR_HELP, "hung up"])
def test_explanations_are_sentences(one: ErrorHelp) -> None:
    assert one.meaning.endswith(".")
    assert one.fix.endswith(".")


def test_what_went_well_needs_none() -> None:
    assert help_for(200, None) is None
