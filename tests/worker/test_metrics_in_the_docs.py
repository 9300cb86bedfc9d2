"""docs/operate/observe.md names the worker's metrics as they are exported."""

import re
from pathlib import Path

from prometheus_client import generate_latest

from gatepass.base.clock import ClockSkew
from gatepass.base.log.background import Background, LostLines
from gatepass.domain.webhooks.backlog import LaneAge
from gatepass.worker.mail.metrics import MailMetrics
from gatepass.worker.metrics import WorkerMetrics
from tests import factory
from tests.markdown_page import Page

# A metric, and the names of its labels.
METRIC = re.compile(r"^`(\w+)(?:\{([\w,]+)\})?`$")


def test_the_metrics_are_those_that_there_are(tmp_path: Path) -> None:
    told = {METRIC.fullmatch(row[0]) for row in Page.of("docs/operate/observe.md").table("metric")}
    named = {found[1]: set(filter(None, (found[2] or "").split(","))) for found in told if found}
    metrics = WorkerMetrics(ClockSkew())
    metrics.attempts.labels("delivered").inc()
    metrics.wallet_pushes.labels("told").inc()
    MailMetrics(metrics.registry).attempts.labels("sent").inc()
    with (tmp_path / "log").open("w") as file:
        background = Background(file.fileno())
        background.end()
    metrics.registry.register(LostLines(background))
    metrics.export_ages([LaneAge(factory.new_id(), "live", 1.0, 1)])
    seen = {
        re.sub("_(bucket|sum|count)$", "", sample.name): set(sample.labels) - {"le"}
        for family in metrics.registry.collect()
        for sample in family.samples
        if not sample.name.endswith("_created")
    }
    assert named == seen
    assert all(name in generate_latest(metrics.registry).decode() for name in named)
