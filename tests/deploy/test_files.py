"""What the files of deploy/ promise, as far as it can be seen without running them."""

import re
from pathlib import Path

import pytest

from gatepass import __version__
from gatepass.base.settings import Settings
from gatepass.cli.environment import variable
from gatepass.cli.listening import GRACE_SECONDS
from gatepass.worker.sender import DEADLINE
from tests.deploy import composition, recipe, units
from tests.deploy.composition import DEPLOY, seconds
from tests.deploy.recipe import ROOT

FILES = sorted(path for path in DEPLOY.rglob("*") if path.is_file() and path.name != ".env")
OURS = ("api", "studio", "worker")
SECRETS = {"POSTGRES_PASSWORD": "a", "GATEPASS_ENCRYPTION_KEYS": "b"}


@pytest.mark.parametrize("path", FILES, ids=lambda path: str(path.relative_to(DEPLOY)))
def test_every_setting_that_is_named_exists(path: Path) -> None:
    named = set(re.findall(r"GATEPASS_[A-Z_]*[A-Z]", path.read_text()))
    assert named <= {variable(field) for field in Settings.model_fields}


@pytest.mark.parametrize("path", [DEPLOY / ".env.example", units.SYSTEMD / "gatepass.env.example"], ids=str)
def test_examples_hold_no_secret(path: Path) -> None:
    said = composition.variables_of(path)
    assert [name for name in SECRETS if said.get(name)] == []
    assert "GATEPASS_ENCRYPTION_KEYS" in said


def test_a_password_that_was_not_set_is_refused() -> None:
    with pytest.raises(AssertionError, match="POSTGRES_PASSWORD is not set"):
        composition.read(composition.variables_of(DEPLOY / ".env.example"))


def test_nothing_of_ours_starts_before_the_database_is_migrated() -> None:
    services = composition.read(SECRETS)
    assert services["migrate"].depends_on == {"postgres": "service_healthy"}
    for name in OURS:
        assert services[name].depends_on["migrate"] == "service_completed_successfully"


def test_only_the_two_doors_are_published_and_on_loopback_alone() -> None:
    published = {name: one["ports"] for name, one in composition.raw()["services"].items() if "ports" in one}
    assert published == {"api": ["127.0.0.1:8000:8000"], "studio": ["127.0.0.1:8001:8000"]}


def test_the_database_is_not_reached_from_outside() -> None:
    whole = composition.raw()
    assert whole["networks"]["data"] == {"internal": True}
    for name in ("postgres", "valkey", "migrate"):
        assert whole["services"][name]["networks"] == ["data"]


def test_the_image_is_named_after_this_version() -> None:
    services = composition.read(SECRETS)
    assert {services[name].image for name in ("migrate", *OURS)} == {f"gatepass:{__version__}"}


def test_the_image_runs_as_a_number_that_is_not_root(tmp_path: Path) -> None:
    user, group = recipe.read(tmp_path).user.split(":")
    assert int(user) >= 10_000
    assert int(group) >= 10_000


def test_the_image_gets_the_package_and_no_secret() -> None:
    kept = ("requirements.txt", "gatepass/cli/main.py", "gatepass/domain/tickets/activation.sql")
    left = (".env", "deploy/.env", "gatepass/.env", ".git/config", ".gatepass/dev.env", "tests/make.py")
    assert [name for name in kept if recipe.is_ignored(ROOT / name)] == []
    assert [name for name in left if not recipe.is_ignored(ROOT / name)] == []


def test_nobody_is_killed_while_ending_well() -> None:
    """Longer than the code itself waits, and the same in containers and under systemd."""
    services = composition.read(SECRETS)
    for name, needed in (("api", GRACE_SECONDS), ("studio", GRACE_SECONDS), ("worker", DEADLINE)):
        unit = units.read(f"gatepass-{name}@.service")
        assert needed + 5 <= services[name].grace
        assert services[name].grace == seconds(unit.one("TimeoutStopSec") + "s")


def test_ports_of_the_units_never_meet() -> None:
    taken: list[str] = []
    for name in units.NAMES:
        for instance in "123456789" if "@" in name else "":
            unit = units.read(name, instance)
            said = [*unit.environment.values(), *unit.command]
            taken += [word for word in said if word.isdigit() and len(word) == 4]
    assert len(taken) == len(set(taken)) == 9 * 5
