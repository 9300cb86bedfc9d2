"""Bare pgbench, with the statement that the API calls: the rate of PostgreSQL alone."""

import re
import subprocess
from pathlib import Path

from bench.measure import Slice
from tests.postgres import Cluster

STATUSES = '{"live": {"activated": 200}}'

ONE = f"""
\\set n :first + :i * :clients + :client_id
\\set i :i + 1
SELECT 1 / (v.verdict = 'activated')::int
  FROM bench_card b,
       judge_scans(
           now(), '{STATUSES}', ARRAY[gen_random_uuid()], ARRAY[b.organization_id], ARRAY['live'], ARRAY[b.key_id],
           ARRAY['127.0.0.1'], ARRAY[now()], ARRAY[0], ARRAY[gen_random_uuid()], ARRAY[gen_random_uuid()],
           ARRAY[b.event_id], ARRAY[b.number], ARRAY[NULL::uuid], ARRAY[false], ARRAY['North 2'], ARRAY['scanner-7'],
           ARRAY[NULL::timestamptz], ARRAY[NULL::jsonb]) v
 WHERE b.n = :n::bigint;
"""

MANY = f"""
\\set n :first + (:i * :clients + :client_id) * :size
\\set i :i + 1
SELECT 1 / (count(*) FILTER (WHERE v.verdict = 'activated') = :size::bigint)::int
  FROM (SELECT array_agg(gen_random_uuid()) AS request, array_agg(organization_id) AS organization,
               array_agg('live'::text) AS mode, array_agg(key_id) AS key, array_agg('127.0.0.1'::text) AS address,
               array_agg(now()) AS received, array_agg(0) AS elapsed, array_agg(gen_random_uuid()) AS retry,
               array_agg(gen_random_uuid()) AS fingerprint, array_agg(event_id) AS event, array_agg(number) AS number,
               array_agg(NULL::uuid) AS signer, array_agg(false) AS expired, array_agg('North 2'::text) AS gate,
               array_agg('scanner-7'::text) AS scanner, array_agg(NULL::timestamptz) AS occurred,
               array_agg(NULL::jsonb) AS given
          FROM bench_card WHERE n >= :n::bigint AND n < :n::bigint + :size::bigint) b,
       judge_scans(now(), '{STATUSES}', request, organization, mode, key, address, received, elapsed, retry,
                      fingerprint, event, number, signer, expired, gate, scanner, occurred, given) v;
"""

DONE = re.compile(r"number of transactions actually processed: (\d+)")
# Of the statement alone, without the pause behind it: a line of `--report-per-command`.
MEAN = re.compile(r"([\d.]+) +\d+ +SELECT 1 /")
FAILED = re.compile(r"number of failed transactions: (\d+)")


def pgbench(
    cluster: Cluster,
    folder: Path,
    first: int,
    seconds: float,
    clients: int,
    size: int,
    *,
    pause_us: int = 0,
    database: str = "bench",
) -> Slice:
    """Activate tickets for some seconds, `size` in a transaction, beginning with number `first`.

    A client waits `pause_us` between an answer and its next statement, so that PostgreSQL waits too.
    """
    script = folder / "bare.sql"
    script.write_text((ONE if size == 1 else MANY) + (f"\\sleep {pause_us} us\n" if pause_us else ""))
    variables = {"first": first, "i": 0, "clients": clients, "size": size}
    command = [
        str(cluster.binaries / "pgbench"), "-n", "-r", "-M", "prepared", "-c", str(clients), "-j", str(min(clients, 2)),
        "-T", str(int(seconds)), "-f", str(script), "-h", "127.0.0.1", "-p", str(cluster.port), "-U", "postgres",
        *(part for name, value in variables.items() for part in ("-D", f"{name}={value}")), database,
    ]  # fmt: skip
    ran = subprocess.run(command, check=False, capture_output=True, text=True)
    if ran.returncode:
        raise AssertionError(ran.stderr[-2000:])
    transactions = int(_found(DONE, ran.stdout))
    mean_us = float(_found(MEAN, ran.stdout)) * 1000
    # Clients do not advance at the same speed: skip half as many again, so that the next slice finds unused tickets.
    used = int(transactions * size * 1.5) + 200 * clients * size
    return Slice(transactions * size, seconds, mean_us, None, None, int(_found(FAILED, ran.stdout)), used)


def _found(pattern: re.Pattern[str], text: str) -> str:
    found = pattern.search(text)
    if found is None:
        raise AssertionError(text)
    return found[1]
