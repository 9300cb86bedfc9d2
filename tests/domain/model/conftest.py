"""Asserts in the machine and the model show their values, as those of a test do."""

import pytest

pytest.register_assert_rewrite(
    *(f"tests.domain.model.{name}" for name in ("machine", "moves", "rules", "model", "organization", "side"))
)
