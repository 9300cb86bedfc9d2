"""Asserts in the machine and the model show their values, as those of a test do."""

import pytest

pytest.register_assert_rewrite("tests.domain.model.machine", "tests.domain.model.moves", "tests.domain.model.model")
