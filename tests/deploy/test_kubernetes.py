"""deploy/kubernetes: valid, hardened, and in agreement with the compose file, whose services are run."""

import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml

from gatepass import __version__
from tests.deploy import compose_file, dockerfile
from tests.deploy.compose_file import DEPLOY

KUBERNETES = DEPLOY / "kubernetes"
SERVICES = compose_file.read({"POSTGRES_PASSWORD": "a", "GATEPASS_ENCRYPTION_KEYS": "b"})
Document = dict[str, Any]


@pytest.fixture(scope="module")
def rendered() -> str:
    return subprocess.run(
        ["kubectl", "kustomize", str(KUBERNETES)], check=True, capture_output=True, text=True, timeout=60
    ).stdout


@pytest.fixture(scope="module")
def documents(rendered: str) -> dict[tuple[str, str], Document]:
    return {(one["kind"], one["metadata"]["name"]): one for one in yaml.safe_load_all(rendered)}


@pytest.fixture(scope="module")
def pods(documents: dict[tuple[str, str], Document]) -> dict[str, Document]:
    """The pods' specifications by component."""
    templates = [one["spec"]["template"] for one in documents.values() if one["kind"] in ("Deployment", "Job")]
    return {one["metadata"]["labels"]["app.kubernetes.io/component"]: one["spec"] for one in templates}


def test_kubernetes_would_accept_it(rendered: str, tmp_path: Path) -> None:
    (tmp_path / "rendered.yaml").write_text(rendered)
    program = Path(sys.executable).with_name("kubernetes-validate")
    done = subprocess.run(
        [program, "--strict", "--quiet", tmp_path / "rendered.yaml"], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr


def test_every_file_is_rendered() -> None:
    named = yaml.safe_load((KUBERNETES / "kustomization.yaml").read_text())["resources"]
    apart = {"kustomization.yaml", "cloudnative-pg.yaml"}
    assert sorted(named) == sorted({path.name for path in KUBERNETES.glob("*.yaml")} - apart)


def test_the_processes_are_those_of_the_compose_file(pods: dict[str, Document]) -> None:
    assert set(pods) == {"api", "studio", "card-page", "worker", "migrate"}
    for name, pod in pods.items():
        (container,) = pod["containers"]
        assert container["args"] == SERVICES[name].command
        assert container["image"] == f"registry.example.com/gatepass:{__version__}"
        assert pod["terminationGracePeriodSeconds"] >= SERVICES[name].grace


def test_the_job_is_that_of_this_version(documents: dict[tuple[str, str], Document]) -> None:
    assert ("Job", f"gatepass-migrate-{__version__}") in documents


def test_the_ports_are_those_of_the_settings(
    documents: dict[tuple[str, str], Document], pods: dict[str, Document]
) -> None:
    settings = documents["ConfigMap", "gatepass"]["data"]
    http, metrics, of_worker = (
        int(settings[f"GATEPASS_{name}"]) for name in ("PORT", "METRICS_PORT", "WORKER_METRICS_PORT")
    )
    ports = {
        name: [port["containerPort"] for port in pod["containers"][0].get("ports", [])] for name, pod in pods.items()
    }
    serving = {name: [http, metrics] for name in ("api", "studio", "card-page")}
    assert ports == {**serving, "worker": [of_worker], "migrate": []}
    policy = documents["NetworkPolicy", "gatepass"]["spec"]["ingress"]
    assert [port["port"] for rule in policy for port in rule["ports"]] == [http, metrics, of_worker]


def test_every_pod_is_hardened(pods: dict[str, Document], tmp_path: Path) -> None:
    user, group = map(int, dockerfile.read(tmp_path).user.split(":"))
    for pod in pods.values():
        assert pod["automountServiceAccountToken"] is False
        assert pod["enableServiceLinks"] is False
        assert pod["securityContext"] == {
            "runAsNonRoot": True,
            "runAsUser": user,
            "runAsGroup": group,
            "seccompProfile": {"type": "RuntimeDefault"},
        }
        assert pod["containers"][0]["securityContext"] == {
            "allowPrivilegeEscalation": False,
            "readOnlyRootFilesystem": True,
            "capabilities": {"drop": ["ALL"]},
        }
        assert pod["containers"][0]["resources"]["limits"]["memory"]


def test_a_database_that_is_away_restarts_no_pod(pods: dict[str, Document]) -> None:
    for name in ("api", "studio", "card-page", "worker"):
        container = pods[name]["containers"][0]
        assert container["readinessProbe"]["httpGet"]["path"] == "/readyz"
        for probe in ("livenessProbe", "startupProbe"):
            assert container[probe]["httpGet"]["path"] in {"/livez", "/metrics"}


def test_a_commit_of_the_postgres_is_on_two_machines() -> None:
    cluster = yaml.safe_load((KUBERNETES / "cloudnative-pg.yaml").read_text())
    assert (cluster["apiVersion"], cluster["kind"]) == ("postgresql.cnpg.io/v1", "Cluster")
    assert cluster["spec"]["instances"] == 3
    assert cluster["spec"]["postgresql"]["synchronous"] == {
        "method": "any",
        "number": 1,
        "dataDurability": "required",
        "failoverQuorum": True,
    }
    assert cluster["spec"]["affinity"]["podAntiAffinityType"] == "required"
