"""docs/operate/observe.md names the worker's metrics as Prometheus sees them."""

import re

from prometheus_client import generate_latest

from gatepass.domain.webhooks.backlog import LaneAge
from gatepass.worker.metrics import Metrics
from tests import make
from tests.page import Page

# A metric, and the names of its labels.
METRIC = re.compile(r"^`(\w+)(?:\{([\w,]+)\})?`$")


def test_the_metrics_are_those_that_there_are() -> None:
    told = {METRIC.fullmatch(row[0]) for row in Page.of("docs/operate/observe.md").table("metric")}
    named = {found[1]: set(filter(None, (found[2] or "").split(","))) for found in told if found}
    metrics = Metrics()
    metrics.attempts.labels("delivered").inc()
    metrics.tell_ages([LaneAge(make.new_id(), "live", 1.0, 1)])
    seen = {
        re.sub("_(bucket|sum|count)$", "", sample.name): set(sample.labels) - {"le"}
        for family in metrics.registry.collect()
        for sample in family.samples
        if not sample.name.endswith("_created")
    }
    assert named == seen
    assert all(name in generate_latest(metrics.registry).decode() for name in named)
