"""Run the black-box acceptance checks against two real `gatepass serve` processes and a `gatepass worker`.

    python -m tests.contract.acceptance --postgres 18 FOLDER_OF_THE_CHECKS

They share nothing but PostgreSQL. Connections alternate between the two processes, so that an answer which depends on
the memory of one process fails a check.
"""

import argparse
import asyncio
import itertools
import json
import os
import sys
import tempfile
from typing import Any

from gatepass.base.encryption import new_key
from tests import factory
from tests.postgres import free_port, start_cluster
from tests.processes import GatepassProcess, gatepass, launch_worker, serve


async def alternate(port: int, targets: list[int]) -> asyncio.Server:
    """A proxy in front of several processes: each connection goes to the next of them."""
    turns = itertools.cycle(targets)

    async def pass_on(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        onward_reader, onward_writer = await asyncio.open_connection("127.0.0.1", next(turns))
        await asyncio.gather(_pump(reader, onward_writer), _pump(onward_reader, writer))

    return await asyncio.start_server(pass_on, "127.0.0.1", port)


async def _pump(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    try:
        while part := await reader.read(65_536):
            writer.write(part)
            await writer.drain()
    except ConnectionError:
        pass
    finally:
        writer.close()


def forgeable(demo: dict[str, Any]) -> dict[str, Any]:
    """A check forges a signature by ending it in AA. One token in sixteen already ends so, and would stay valid."""
    demo["cards"]["unused"] = [card for card in demo["cards"]["unused"] if not card["token"].endswith("AA")]
    return demo


async def check(folder: str, env: dict[str, str], front: int, servers: list[GatepassProcess]) -> int:
    server = await alternate(front, [server.port for server in servers])
    async with server:
        runner = await asyncio.create_subprocess_exec(
            sys.executable,
            "-m",
            "pytest",
            folder,
            "-q",
            "-p",
            "no:cacheprovider",
            "-c",
            os.devnull,
            "--rootdir",
            folder,
            env={**os.environ, **env},
        )
        return await runner.wait()


def main() -> int:
    parser = argparse.ArgumentParser()
    parser.add_argument("--postgres", type=int, default=18)
    parser.add_argument("folder")
    options = parser.parse_args()
    cluster, front = start_cluster(options.postgres), free_port()
    env = {
        **factory.environment(cluster.create_database("gatepass")),
        "GATEPASS_ENCRYPTION_KEYS": new_key(),
        "GATEPASS_METRICS_PORT": "0",
        "GATEPASS_LOG_LEVEL": "warning",
        "GATEPASS_WEBHOOK_ALLOW_PRIVATE": "1",
        "GATEPASS_PUBLIC_URL": f"http://127.0.0.1:{front}",
    }
    processes: list[GatepassProcess] = []
    try:
        gatepass(env, "migrate")
        with tempfile.NamedTemporaryFile("w", suffix=".json") as demo:
            demo.write(json.dumps(forgeable(json.loads(gatepass(env, "demo", "--json")))))
            demo.flush()
            processes += [launch_worker(env), serve(env, free_port()), serve(env, free_port())]
            print(f"acceptance on PostgreSQL {options.postgres}, two processes and a worker", flush=True)
            return asyncio.run(check(options.folder, {"GATEPASS_DEMO": demo.name}, front, processes[1:]))
    finally:
        for process in processes:
            process.stop()
        cluster.stop()


if __name__ == "__main__":
    sys.exit(main())
