"""The secret of a link is in its path, and the log has paths: each route with a secret is known to the log."""

import pytest

from gatepass.studio.middleware import loggable
from tests.studio.routes import walks

SECRETS = sorted({walk.path for walk in walks() if "{token}" in walk.path})


@pytest.mark.parametrize("path", SECRETS)
def test_no_secret_of_a_link_is_logged(path: str) -> None:
    assert "a.s3cret" not in loggable(path.format(token="a.s3cret"))
