"""One build and one clean installation of the SDK for JavaScript."""

import pytest

from tests.sdk.javascript.node import Project, install


@pytest.fixture(scope="session")
def project(tmp_path_factory: pytest.TempPathFactory, testrun_uid: str) -> Project:
    """One installation for all processes of a test run."""
    return install(tmp_path_factory.getbasetemp().parent / f"gatepass-sdk-js-{testrun_uid}")
