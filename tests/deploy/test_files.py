"""The rules for the files of deploy/ that can be checked without running them."""

import re
from pathlib import Path

import pytest

from gatepass import __version__
from gatepass.base.settings import Settings
from gatepass.cli.settings import variable
from gatepass.server.run import GRACE_SECONDS
from gatepass.worker.sender import DEADLINE
from tests.deploy import compose_file, dockerfile, systemd_units
from tests.deploy.compose_file import DEPLOY, seconds
from tests.deploy.dockerfile import ROOT

FILES = sorted(path for path in DEPLOY.rglob("*") if path.is_file() and path.name != ".env")
OURS = ("api", "studio", "card-page", "worker")
SECRETS = {"POSTGRES_PASSWORD": "a", "GATEPASS_ENCRYPTION_KEYS": "b"}


@pytest.mark.parametrize("path", FILES, ids=lambda path: str(path.relative_to(DEPLOY)))
def test_every_setting_that_is_named_exists(path: Path) -> None:
    named = set(re.findall(r"GATEPASS_[A-Z_]*[A-Z]", path.read_text()))
    assert named <= {variable(field) for field in Settings.model_fields}


@pytest.mark.parametrize("path", [DEPLOY / ".env.example", systemd_units.SYSTEMD / "gatepass.env.example"], ids=str)
def test_examples_hold_no_secret(path: Path) -> None:
    variables = compose_file.variables_of(path)
    assert [name for name in SECRETS if variables.get(name)] == []
    assert "GATEPASS_ENCRYPTION_KEYS" in variables


def test_a_password_that_was_not_set_is_refused() -> None:
    with pytest.raises(AssertionError, match="POSTGRES_PASSWORD is not set"):
        compose_file.read(compose_file.variables_of(DEPLOY / ".env.example"))


def test_nothing_of_ours_starts_before_the_database_is_migrated() -> None:
    services = compose_file.read(SECRETS)
    assert services["migrate"].depends_on == {"postgres": "service_healthy"}
    for name in OURS:
        assert services[name].depends_on["migrate"] == "service_completed_successfully"


def test_only_the_interfaces_are_published_and_only_on_loopback() -> None:
    published = {name: one["ports"] for name, one in compose_file.raw()["services"].items() if "ports" in one}
    assert published == {
        "api": ["127.0.0.1:8000:8000"],
        "studio": ["127.0.0.1:8001:8000"],
        "card-page": ["127.0.0.1:8002:8000"],
    }


def test_the_database_is_not_reached_from_outside() -> None:
    document = compose_file.raw()
    assert document["networks"]["data"] == {"internal": True}
    for name in ("postgres", "valkey", "migrate"):
        assert document["services"][name]["networks"] == ["data"]


def test_the_image_is_named_after_this_version() -> None:
    services = compose_file.read(SECRETS)
    assert {services[name].image for name in ("migrate", *OURS)} == {f"gatepass:{__version__}"}


def test_every_image_has_an_exact_version() -> None:
    """When somebody has pulled them, the digests belong behind the tags: see deploy/README.md."""
    bases = [text.split()[0] for word, text in dockerfile.instructions() if word == "FROM"]
    others = [one.image for name, one in compose_file.read(SECRETS).items() if name not in ("migrate", *OURS)]
    assert len(set(bases)) == 1
    assert len(others) == 2
    for image in (*bases, *others):
        assert re.fullmatch(r"[a-z/]+:\d+\.\d+(\.\d+)?-[a-z]+(-[a-z]+)?(@sha256:[0-9a-f]{64})?", image)


def test_the_image_runs_as_a_number_that_is_not_root(tmp_path: Path) -> None:
    user, group = dockerfile.read(tmp_path).user.split(":")
    assert int(user) >= 10_000
    assert int(group) >= 10_000


def test_the_image_gets_the_package_and_no_secret() -> None:
    kept = ("requirements.txt", "gatepass/cli/main.py", "gatepass/domain/tickets/activation.sql")
    left = (".env", "deploy/.env", "gatepass/.env", ".git/config", ".gatepass/dev.env", "tests/factory.py")
    assert [name for name in kept if dockerfile.is_ignored(ROOT / name)] == []
    assert [name for name in left if not dockerfile.is_ignored(ROOT / name)] == []


def test_no_process_is_killed_while_it_stops() -> None:
    """The grace period is longer than the code itself waits, and the same in containers and under systemd."""
    services = compose_file.read(SECRETS)
    for name in OURS:
        needed = DEADLINE if name == "worker" else GRACE_SECONDS
        unit = systemd_units.read(f"gatepass-{name}@.service")
        assert needed + 5 <= services[name].grace
        assert services[name].grace == seconds(unit.one("TimeoutStopSec") + "s")


def test_no_two_units_have_the_same_port() -> None:
    taken: list[str] = []
    for name in systemd_units.NAMES:
        for instance in "123456789" if "@" in name else "":
            unit = systemd_units.read(name, instance)
            words = [*unit.environment.values(), *unit.command]
            taken += [word for word in words if word.isdigit() and len(word) == 4]
    assert len(taken) == len(set(taken)) == 9 * 7
