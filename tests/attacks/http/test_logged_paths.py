"""What the documented proxy logs: a path that is written so that it leads to a secret all the same is not logged."""

import asyncio
import re
from pathlib import Path

import pytest

from tests.attacks.proxy import Proxy, log_until
from tests.server.raw_http import one, request

DEPLOY = Path(__file__).parents[3] / "deploy"
SECRET = "a.kJx2Vq0Yw7nZ5sT1uR8pLc4mB6dF9gHhKjN3aQeW0xy"
DETOURS = [
    "/api/../c/{secret}", "/api/public/v1/../../../c/{secret}", "/docs/../c/{secret}", "/api//../c/{secret}",
    "/api/%2e%2e/c/{secret}", "/api/%2E./c/{secret}", "/api/..%2fc/{secret}", "/api/%2e%2e%2Fc%2F{secret}",
    "/studio/o/../link/{secret}", "/studio/static/..\\link\\{secret}", "/api//c/{secret}", "/covers/../c/{secret}",
    "/api/%2f/c/{secret}", "/api/%5c..%5cc/{secret}",
]  # fmt: skip


@pytest.mark.parametrize("detour", DETOURS)
async def test_a_detour_to_a_secret_is_not_logged(documented_proxy: Proxy, detour: str) -> None:
    number = DETOURS.index(detour)
    answer = one(documented_proxy.port, request("GET", detour.format(secret=SECRET)))
    assert answer.status >= 300
    mark = f"/docs/after-{number}"
    one(documented_proxy.port, request("GET", mark))
    written = await asyncio.to_thread(log_until, documented_proxy.log, mark)
    assert SECRET not in written


def test_the_edge_has_the_same_rule() -> None:
    rules = [
        re.findall(
            r"^ *(?:acl goes_up|http-request set-var\(txn\.logged\)) .*$", (DEPLOY / name).read_text(), re.MULTILINE
        )
        for name in ("haproxy.cfg", "edge/haproxy.cfg")
    ]
    assert len(rules[0]) == 2
    assert rules[0] == rules[1]
