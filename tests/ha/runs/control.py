"""The negative control: with asynchronous replication acknowledged scans are lost, and the judge has to see it."""

import time
from signal import SIGKILL
from typing import Any

from tests.ha.faults.networks import dropped, peers
from tests.ha.lab.cluster import wait_for
from tests.ha.lab.lab import WAYS
from tests.ha.lab.network import send
from tests.ha.runs.session import FLOWS_WITHIN, HEALTHY_WITHIN, Session

NAME = "negative-control"
ASYNCHRONOUS = {"synchronous_mode": "off", "synchronous_mode_strict": False, "maximum_lag_on_failover": 1 << 30}
SYNCHRONOUS = {"synchronous_mode": "quorum", "synchronous_mode_strict": True, "maximum_lag_on_failover": 1 << 20}
# What the standbys send from their side goes on; the WAL of these seconds does not reach them.
FROM_POSTGRES = ("-p", "tcp", "--sport", "5432")
UNREPLICATED = 2.0
# What the loss of acknowledged scans looks like to the judge.
LOSS = ("lost", "double")


def control(session: Session, seed: int) -> dict[str, Any]:
    """The standbys get no WAL for two seconds of scans; then the primary dies. No round can follow in this lab."""
    lab = session.lab
    primary = lab.leader()
    assert primary is not None
    journal = lab.folder / f"journal-{seed}-control.jsonl"
    lab.cluster.configure(ASYNCHRONOUS)
    wait_for(lambda: not lab.cluster.sql(primary, "SHOW synchronous_standby_names"), 30, "commits still wait")
    with session.load(journal, settles=False) as flow:
        fault_at = time.time()
        with dropped(primary, peers(lab, primary), ["OUTPUT"], FROM_POSTGRES):
            wait_for(lambda: time.time() > fault_at + UNREPLICATED and flow.flows(set(WAYS)), 30, "no scan flows")

            def taken_over() -> bool:
                """Patroni may find no standby in time, and start the primary again: it dies until one takes over."""
                leader, postmaster = lab.leader(), primary.postmaster()
                send([postmaster] if leader is primary and postmaster is not None else [], SIGKILL)
                return leader not in (None, primary)

            wait_for(taken_over, FLOWS_WITHIN, "no standby takes over")
        wait_for(lambda: flow.flows(set(WAYS), time.time() - UNREPLICATED), FLOWS_WITHIN, "scans do not flow again")
    wait_for(lambda: lab.cluster.is_healthy(standbys=0), HEALTHY_WITHIN, "the cluster is not healthy")
    judgement = session.judge(journal, fault_at)
    lab.cluster.configure(SYNCHRONOUS)
    wait_for(lab.is_healthy, HEALTHY_WITHIN, "the lab is not healthy")
    seen = sum(judgement.violations.get(kind, 0) for kind in LOSS)
    return {"seed": seed, "faults": [NAME], "at": round(fault_at, 3), "seen": seen, **judgement.as_json()}
