"""Rounds over one lab: load, faults, mending, judgement."""

import asyncio
import contextlib
import json
import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Generator
from contextlib import ExitStack
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any

import httpx2
import psycopg

from tests.ha.exactness import is_definite
from tests.ha.faults.kind import HOLD_AT_MOST
from tests.ha.journal import Journal
from tests.ha.judge import Judgement, judge
from tests.ha.lab.cluster import ROOT, Node, wait_for
from tests.ha.lab.lab import WAYS, Lab
from tests.ha.runs.flow import Flow
from tests.ha.runs.plan import Round

GATES = 48
RATE = 40
# Seconds. A cluster that is mended is complete in ten; a standby that has to be copied needs more.
FLOWS_WITHIN = 60.0
HEALTHY_WITHIN = 120.0
ENDED_WITHIN = 90.0
# Errors of a fault that could not be made, because another one had been there before.
IMPOSSIBLE = (psycopg.Error, httpx2.HTTPError, subprocess.SubprocessError, OSError, LookupError)


@dataclass
class Session:
    lab: Lab
    kept: Path
    next_card: int = 0
    feed_cursor: str | None = None

    def round(self, plan: Round) -> dict[str, Any]:
        """Break what the plan says, under load; what came of it, as a line of the results."""
        wait_for(self.lab.is_healthy, HEALTHY_WITHIN, "the lab is not healthy before the round")
        primary = self.lab.leader()
        assert primary is not None
        for old in self.lab.folder.glob("journal-*"):
            old.unlink()
        journal = self.lab.folder / f"journal-{plan.seed}-{plan.number}.jsonl"
        with self.load(journal) as flow, ExitStack() as mending:
            fault_at = time.time()
            missed = self._break(plan, primary, mending)
            self._hold(plan, primary, flow, fault_at)
            held = time.time() - fault_at
            mending.close()
            mended_at = time.time()
            wait_for(lambda: flow.flows(set(WAYS), mended_at), FLOWS_WITHIN, "scans do not flow after the mending")
            wait_for(self.lab.is_healthy, HEALTHY_WITHIN, "the lab is not healthy after the mending")
            healthy = time.time() - mended_at
            wait_for(lambda: flow.flows(set(WAYS)), FLOWS_WITHIN, "scans do not flow in the healthy lab")
        judgement = self.judge(journal, fault_at)
        allowed = {name for kind in plan.kinds for name in kind.allows}
        violations = {name: number for name, number in judgement.violations.items() if name not in allowed}
        moved = self.lab.leader() is not primary
        after = {way: gap_since(journal, way, mended_at) for way in WAYS}
        result = {
            "seed": plan.seed,
            "round": plan.number,
            "faults": plan.names,
            "delay": plan.delay,
            "missed": missed,
            "at": round(fault_at, 3),
            "load_average": round(os.getloadavg()[0], 1),
            "held": round(held, 2),
            "healthy_after": round(healthy, 2),
            "moved": moved,
            **judgement.as_json(),
            "violations": violations,
            "examples": [one for one in judgement.examples if one.partition(":")[0] in violations],
            "gap_after_mending": after,
        }
        result["too_long"] = too_long(plan, result)
        if violations or result["too_long"]:
            self.keep(plan)
        return result

    def _break(self, plan: Round, primary: Node, mending: ExitStack) -> list[str]:
        """The faults that could not be made."""
        mending.enter_context(plan.kinds[0].break_(self.lab, primary))
        for kind in plan.kinds[1:]:
            time.sleep(plan.delay)
            try:
                mending.enter_context(kind.break_(self.lab, self.lab.leader() or primary))
            except IMPOSSIBLE:
                return [kind.name]
        return []

    def _hold(self, plan: Round, primary: Node, flow: Flow, since: float) -> None:
        """Until scans flow again where they can, or it is clear that they will not."""
        least = max(kind.hold for kind in plan.kinds)
        ways = {way for way in WAYS if way not in plan.stopped()}
        until = since + (HOLD_AT_MOST if ways else least)
        moves = any(kind.moves for kind in plan.kinds) and not plan.waits_for_mending

        def is_over() -> bool:
            now = time.time()
            if now < since + least:
                return False
            return now > until or ((not moves or self.lab.leader() is not primary) and flow.flows(ways, since))

        wait_for(is_over, HOLD_AT_MOST + 10, "the fault is not over")

    @contextlib.contextmanager
    def load(self, journal: Path, *, settles: bool = True) -> Generator[Flow]:
        """Gates that scan; at the end they settle what is unknown, unless there is no hope that they can."""
        config = journal.with_suffix(".json")
        config.write_text(
            json.dumps(
                {"world": str(self.lab.world), "journal": str(journal), "urls": self.lab.urls, "gates": GATES}
                | {"rate": RATE, "first_card": self.next_card, "feed_cursor": self.feed_cursor, "seed": self.next_card}
            )
        )
        log = self.lab.folder / "load.log"
        with log.open("ab") as out:
            load = subprocess.Popen(
                self.lab.network.clients.command(sys.executable, "-m", "tests.ha.load", str(config)),
                cwd=ROOT,
                stdout=out,
                stderr=subprocess.STDOUT,
                start_new_session=True,
            )
        flow = Flow(journal)
        try:
            wait_for(lambda: flow.flows(set(WAYS)) or load.poll() is not None, FLOWS_WITHIN, "no scan flows")
            yield flow
            if not settles:
                return
            load.send_signal(signal.SIGTERM)
            code = load.wait(ENDED_WITHIN)
        finally:
            load.kill()
            load.wait()
        flow.flows(set())
        if code or flow.ended is None:
            raise RuntimeError(f"the load ended with {code}:\n{log.read_text()[-2000:]}")
        self.next_card, self.feed_cursor = flow.ended.next_card, flow.ended.feed_cursor

    def judge(self, journal: Path, fault_at: float) -> Judgement:
        url = self.lab.database_url("haproxy")
        with self.lab.network.clients.inside():
            return asyncio.run(judge(journal, self.lab.world, self.lab.received, url, fault_at=fault_at))

    def keep(self, plan: Round) -> None:
        """The journal and the logs of a round that failed."""
        folder = self.kept / f"{plan.seed}-{plan.number}-{'-'.join(plan.names)}"
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir(parents=True)
        for path in [
            *self.lab.folder.glob("journal-*.jsonl"),
            *self.lab.folder.glob("*.log"),
            *self.lab.folder.glob("node*/*.log"),
        ]:
            shutil.copy(path, folder / "-".join(path.relative_to(self.lab.folder).parts))


def gap_since(journal: Path, way: str, moment: float) -> float:
    """The longest time without an answer on a way, from a moment on."""
    run = Journal.read(journal)
    ends = [one.end for one in run.attempts if one.url == way and one.key is not None and is_definite(one)]
    times = [moment, *sorted(end for end in ends if moment < end < run.scanned_until), run.scanned_until]
    return round(max(late - early for early, late in pairwise(times)), 3)


def too_long(plan: Round, result: dict[str, Any]) -> dict[str, list[float]]:
    """The ways whose gap is longer than wanted: the gap and the bound."""
    found: dict[str, list[float]] = {}
    for way in WAYS:
        gap = result["gap_after_mending" if way in plan.stopped() else "gap"][way]
        bound = plan.bound(way)
        if gap > bound:
            found[way] = [gap, bound]
    return found
