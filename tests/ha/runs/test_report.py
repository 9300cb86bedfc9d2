"""The table of the rounds: what is counted, and what is called too long."""

import json
from pathlib import Path
from typing import Any

from tests.ha.runs import report, results
from tests.ha.runs.plan import Round
from tests.ha.runs.session import too_long


def result(*names: str, gap: float = 1.0, after: float = 0.2, **more: Any) -> dict[str, Any]:
    gaps = {"haproxy": gap, "multihost": gap / 2, "pgbouncer": gap * 2, "all": gap}
    base = {"seed": 1, "round": 0, "faults": list(names), "violations": {}, "examples": [], "missed": []}
    counts = {"scans": 100, "activations": 60, "answered 503 unavailable": 5}
    return {**base, "counts": counts, "gap": gaps, "gap_after_mending": dict.fromkeys(gaps, after), **more}


def test_a_row_has_the_median_and_the_maximum_of_each_way() -> None:
    text = report.table([result("switchover", gap=gap) for gap in (1.0, 2.0, 4.0)])
    (row,) = text.splitlines()[2:]
    assert row == (
        "| Patroni is asked to hand over to a standby | 3 | 2.0 / 4.0 | 1.0 / 2.0 | 4.0 / 8.0 "
        "| 3.2 / 6.2 | 2.7 / 3.0 | 3 | 0 |"
    )


def test_a_fault_that_must_be_mended_is_measured_from_the_mending() -> None:
    text = report.table([result("clients-cut-off", gap=9.0, after=0.5)])
    assert "| 0.5 / 0.5 | 0.5 / 0.5 | 0.5 / 0.5 |" in text
    assert "3, once repaired" in text


def test_pairs_are_one_row_and_violations_are_named() -> None:
    text = report.table(
        [result("switchover", "haproxy-killed"), result("partition", "api-killed", violations={"lost": 2, "double": 1})]
    )
    (row,) = text.splitlines()[2:]
    assert row.startswith("| two at once | 2 |")
    assert row.endswith("| 1 double, 2 lost |")


def test_the_summary_counts_faults_and_not_those_that_could_not_be_made() -> None:
    text = report.summary(
        [
            result("switchover"),
            result("partition", "backends-terminated", missed=["backends-terminated"]),
            result(report.CONTROL, seen=12, violations={"lost": 12}),
        ]
    )
    assert text.startswith("2 faults of 3 kinds in 2 rounds; 200 scans, 120 activations, 10 x 503. Violations: 0.")
    assert "run 1 times, and its loss was seen 1 times" in text


def test_a_busy_machine_counts_for_everything_but_time() -> None:
    busy = result("switchover", gap=9.0, load_average=12.0, too_long={"haproxy": [9.0, 3.0]})
    busy["violations"] = {"late_answer": 3, "lost": 1}
    found = [result("switchover", gap=2.0), busy]
    (row,) = report.table(found).splitlines()[2:]
    assert "| 2 | 2.0 / 2.0 | 1.0 / 1.0 | 4.0 / 4.0 |" in row
    assert row.endswith("| 1 lost |")
    assert "A gap longer than wanted: 0 of the 1 rounds in which the machine did nothing else" in report.summary(found)


def test_the_part_of_the_page_between_the_marks_is_replaced() -> None:
    page = "a\n<!-- made by `make ha-report`: begin -->\nold\n<!-- made by `make ha-report`: end -->\nz\n"
    text = report.written(page, [result("switchover")])
    assert text.startswith("a\n<!-- made")
    assert text.endswith("end -->\nz\n")
    assert "old" not in text
    assert report.written(text, [result("switchover")]) == text


def test_the_page_has_the_marks() -> None:
    assert report.MADE.search(report.PAGE.read_text())


def test_a_run_goes_on_where_the_last_one_of_its_seed_ended(tmp_path: Path) -> None:
    file = tmp_path / "results.jsonl"
    assert results.next_round(results.read(file), 1) == 0
    results.append(result("switchover", round=4), file)
    results.append(result(report.CONTROL, seen=1), file)
    results.append(result("switchover", seed=2, round=9), file)
    assert results.next_round(results.read(file), 1) == 5
    assert json.loads(file.read_text().splitlines()[0])["commit"]


def test_a_bad_round_that_is_run_again_is_replaced(tmp_path: Path) -> None:
    file = tmp_path / "results.jsonl"
    for violations in ({"feed_order": 3}, {}, {}):
        results.append({**result("switchover", round=4), "violations": violations}, file)
    assert [one["violations"] for one in results.read(file)] == [{}, {}]
    results.append({**result("switchover", round=4), "violations": {"lost": 1}}, file)
    assert [one["violations"] for one in results.read(file)] == [{}, {}, {"lost": 1}]


def test_a_gap_is_too_long_by_the_bound_of_its_way() -> None:
    assert too_long(Round(1, 0, ("switchover",)), result("switchover", gap=2.0)) == {"pgbouncer": [4.0, 3.0]}
    frozen = result("api-frozen", gap=0.4, after=3.5)
    assert too_long(Round(1, 0, ("api-frozen",)), frozen) == {"multihost": [3.5, 3.0]}
