"""deploy/ha: the templates are filled completely, and what comes of them is safe. `make ha-check` starts them."""

import re
import subprocess
from pathlib import Path

import pytest
import yaml

from tests.deploy import compose_file

HA = Path(__file__).parents[2] / "deploy" / "ha"
EXAMPLE = HA / "cluster.env.example"
TEMPLATES = ["etcd.yml", "patroni.yml", "haproxy.cfg", "pgbouncer.ini", "pgbouncer.users", "database.sql"]


def render(variables: dict[str, str], folder: Path) -> subprocess.CompletedProcess[str]:
    filled = folder / "cluster.env"
    filled.write_text("".join(f"{name}={value}\n" for name, value in variables.items()))
    return subprocess.run(
        [str(HA / "render.sh"), str(filled), str(folder)], check=False, capture_output=True, text=True, timeout=60
    )


@pytest.fixture
def rendered(tmp_path: Path) -> Path:
    variables = compose_file.variables_of(EXAMPLE)
    passwords = {name: f"{name.lower()}-is-secret" for name in variables if name.endswith("_PASSWORD")}
    assert render(variables | passwords, tmp_path).returncode == 0
    return tmp_path


def test_the_example_names_every_variable_and_no_other() -> None:
    used = {name for file in TEMPLATES for name in re.findall(r"\$\{(\w+)\}", (HA / file).read_text())}
    assert used == set(compose_file.variables_of(EXAMPLE))


def test_the_example_holds_no_password(tmp_path: Path) -> None:
    refused = render(compose_file.variables_of(EXAMPLE), tmp_path)
    assert refused.returncode == 1
    assert "PASSWORD has no value" in refused.stderr


def test_everything_is_filled_and_readable_by_its_owner_only(rendered: Path) -> None:
    for name in TEMPLATES:
        assert "${" not in (rendered / name).read_text()
        assert (rendered / name).stat().st_mode & 0o077 == 0


def test_nobody_connects_without_a_password(rendered: Path) -> None:
    patroni = yaml.safe_load((rendered / "patroni.yml").read_text())
    for line in patroni["postgresql"]["pg_hba"]:
        assert line.split()[-1] == "scram-sha-256"
    assert {"auth-local": "scram-sha-256"} in patroni["bootstrap"]["initdb"]
    assert "auth_type = scram-sha-256" in (rendered / "pgbouncer.ini").read_text()


def test_an_acknowledged_commit_is_on_two_machines(rendered: Path) -> None:
    agreed = yaml.safe_load((rendered / "patroni.yml").read_text())["bootstrap"]["dcs"]
    assert agreed["synchronous_mode"] == "quorum"
    assert agreed["synchronous_mode_strict"] is True
    assert agreed["postgresql"]["parameters"]["synchronous_commit"] == "on"
    assert agreed["ttl"] >= agreed["loop_wait"] + 2 * agreed["retry_timeout"]


def test_haproxy_accepts_its_configuration(rendered: Path) -> None:
    checked = subprocess.run(
        ["/usr/sbin/haproxy", "-c", "-f", str(rendered / "haproxy.cfg")], check=False, capture_output=True, text=True
    )
    assert checked.returncode == 0, checked.stderr
