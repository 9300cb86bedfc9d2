"""The rules are well formed, lead to runbooks, and read only metrics that exist; so does the dashboard."""

import asyncio
import json
import re
import subprocess
from collections.abc import AsyncGenerator, Generator
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit
from urllib.request import urlopen

import pytest
import yaml

from tests.docs.test_links import anchors
from tests.faults.gates import wait_for
from tests.markdown_page import Page
from tests.observe.alert_rules import FILES, OBSERVE, Alert, alerts, faster, metrics_in, rules
from tests.observe.stack import running_stack
from tests.valkey import Valkey

SITE = "docs.gatepass.example.com"
RUNBOOKS = Page.of("docs/operate/runbooks.md")
DASHBOARD: dict[str, Any] = json.loads((OBSERVE / "dashboard.json").read_text())
# Those that Prometheus itself makes.
OF_PROMETHEUS = {"up", "ALERTS"}
# What Grafana replaces before it asks.
VARIABLES = {"$__rate_interval": "5m", "$cell": ".*"}


def promtool(*arguments: str) -> None:
    done = subprocess.run(["promtool", *arguments], cwd=OBSERVE, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.parametrize("command", ["check rules alerts.yml cluster.yml", "check config prometheus.yml"])
def test_promtool_finds_no_fault(command: str) -> None:
    promtool(*command.split())


def test_the_rules_do_what_their_unit_tests_say() -> None:
    promtool("test", "rules", "alerts_test.yml")


@pytest.mark.parametrize("alert", alerts(), ids=lambda alert: alert.name)
def test_an_alert_has_a_runbook(alert: Alert) -> None:
    url = urlsplit(alert.runbook_url)
    assert (url.scheme, url.netloc, url.path) == ("https", SITE, "/operate/runbooks/")
    assert url.fragment == alert.name.lower()
    assert url.fragment in anchors(RUNBOOKS)
    assert alert.severity in {"page", "ticket"}
    assert f"### {alert.name}\n\n*{alert.severity}.*" in RUNBOOKS.text
    assert alert.summary


def test_every_runbook_belongs_to_an_alert() -> None:
    told: list[str] = re.findall(r"^### (.+)$", RUNBOOKS.text, re.MULTILINE)
    assert sorted(told) == sorted(alert.name for alert in alerts())


def test_every_alert_is_caused_by_a_test() -> None:
    texts = "".join(
        path.read_text() for path in sorted((OBSERVE.parents[1] / "tests/observe").glob("test_*_alerts.py"))
    )
    assert [alert.name for alert in alerts() if f'"{alert.name}"' not in texts] == []


def test_the_copy_of_the_rules_is_sixty_times_as_fast() -> None:
    text = "for: 10m\nexpr: rate(x[1h]) > 300 and increase(y_seconds[5m]) > 0.5"
    assert faster(text) == "for: 10000ms\nexpr: rate(x[60000ms]) > 300 and increase(y_seconds[5000ms]) > 0.5"


@pytest.fixture(scope="module")
def valkey() -> Generator[Valkey]:
    started = Valkey()
    yield started
    started.kill()


@pytest.fixture(scope="module")
async def exported(valkey: Valkey) -> AsyncGenerator[set[str]]:
    """The names of all samples of an API, a studio and a worker. A message waits for its endpoint, which fails."""
    async with running_stack() as stack:
        await stack.tenant.endpoint("http://127.0.0.1:9/nobody")
        await stack.tenant.tell()
        processes = [
            await asyncio.to_thread(stack.serve, "api", GATEPASS_VALKEY_URL=valkey.url),
            await asyncio.to_thread(stack.serve, "studio"),
            await asyncio.to_thread(stack.work),
        ]
        async with processes[0].client((await stack.tenant.key()).text) as client:
            assert (await client.post("/scan", content=b"{}")).status_code == 400

        def samples() -> set[str]:
            pages: list[str] = []
            for process in processes:
                with urlopen(f"http://127.0.0.1:{process.metrics_port}/metrics") as answer:
                    pages.append(answer.read().decode())
            return set(re.findall(r"^(\w+)[{ ]", "\n".join(pages), re.MULTILINE))

        async def ages_are_exported() -> bool:
            return "gatepass_webhook_oldest_seconds" in samples()

        await wait_for(ages_are_exported, within=60)
        yield samples()


@pytest.fixture(scope="module")
def of_the_cluster() -> set[str]:
    """The names of all samples that Patroni and etcd gave when they were recorded."""
    recorded = "\n".join(path.read_text() for path in (Path(__file__).with_name("recorded") / "healthy").iterdir())
    return set(re.findall(r"^(\w+)[{ ]", recorded, re.MULTILINE))


def expressions() -> list[str]:
    """Every expression of the dashboard, as Prometheus is asked."""
    found = [target["expr"] for panel in DASHBOARD["panels"] for target in panel.get("targets", [])]
    found += [one["expr"] for one in DASHBOARD["annotations"]["list"]]
    for variable, value in VARIABLES.items():
        found = [one.replace(variable, value) for one in found]
    return found


async def test_every_metric_that_is_read_exists(exported: set[str], of_the_cluster: set[str]) -> None:
    recorded = {rule["record"] for file in FILES for rule in rules(file) if "record" in rule}
    read = {name for file in FILES for rule in rules(file) for name in metrics_in(rule["expr"])}
    shown = {name for one in expressions() for name in metrics_in(one)}
    assert len(read) > 15
    assert len(shown) > 20
    assert (read | shown) - exported - of_the_cluster - recorded - OF_PROMETHEUS == set()
    ours = {name for name in exported if name.startswith("gatepass_") and not name.endswith(("_created", "_sum"))}
    left_out = {re.sub("_(bucket|count)$", "", name) for name in ours - read - shown}
    assert left_out - {re.sub("_(bucket|count)$", "", name) for name in read | shown} == set()


def test_names_of_metrics_are_found_in_an_expression() -> None:
    expression = (
        'sum by (a) (rate(x_total{a="y"}[5m])) / on (b) group_left z:w > 1.5 # word\nor 0 * count(up) and gatpass'
    )
    assert metrics_in(expression) == {"x_total", "z:w", "up", "gatpass"}


def test_promtool_understands_the_dashboard(tmp_path: Path) -> None:
    named = [{"record": f"panel:{n}", "expr": one} for n, one in enumerate(expressions())]
    (tmp_path / "rules.yml").write_text(yaml.safe_dump({"groups": [{"name": "dashboard", "rules": named}]}))
    promtool("check", "rules", str(tmp_path / "rules.yml"))


def test_the_dashboard_is_one_that_grafana_can_import() -> None:
    assert DASHBOARD["schemaVersion"] == 39
    panels = DASHBOARD["panels"]
    assert len({panel["id"] for panel in panels}) == len(panels)
    assert {one["name"] for one in DASHBOARD["templating"]["list"]} == {"datasource", "cell"}
    assert [panel["title"] for panel in panels if panel["type"] == "row"] == [
        "Gates", "Database and processes", "Webhooks", "Connections", "Security", "Mail", "Manifests",
    ]  # fmt: skip
    for panel in panels:
        if panel["type"] != "row":
            assert panel["targets"]
            assert panel["datasource"] == {"type": "prometheus", "uid": "${datasource}"}


def test_no_two_panels_overlap() -> None:
    taken: set[tuple[int, int]] = set()
    for panel in DASHBOARD["panels"]:
        at = panel["gridPos"]
        cells = {(at["x"] + x, at["y"] + y) for x in range(at["w"]) for y in range(at["h"])}
        assert not cells & taken
        assert at["x"] + at["w"] <= 24
        taken |= cells
