"""The open connections of a process: how many there may be, how slow each may be, and a count of those cut off.

A slow caller costs memory and a file, not time. One sweep a second looks at all connections; a request pays nothing.
"""

import resource
from collections import Counter as Counts
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Final, Protocol, Self
from uuid import UUID

from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, Metric
from prometheus_client.registry import Collector
from starlette.types import Scope

from gatepass.base.client_ip import Network
from gatepass.base.log import logger
from gatepass.base.security_headers import security_headers
from gatepass.base.settings import Settings

# Seconds that a connection may stay open between two requests.
KEEP_ALIVE: Final = 5
# Bytes a second. 256 MB at this pace take 18 hours, so a telephone may send them; a drip may not last.
SLOWEST_BODY: Final = 4 * 1024
# Files that a process has open besides its callers: PostgreSQL, Valkey, metrics, templates.
OTHER_FILES: Final = 256

log = logger(__name__)


class Reason(StrEnum):
    """Why a connection was cut off."""

    SLOW_HEAD = "slow_head"
    SLOW_BODY = "slow_body"
    UNREAD_RESPONSE = "unread_response"
    UNREAD_BODY = "unread_body"
    TOO_MANY = "too_many"
    MALFORMED = "malformed"


def _tell_nobody(_scope: Scope, _id: UUID) -> None:
    """By name: the process that reloads the code sends it to another one."""


class Connection(Protocol):
    def pass_second(self) -> None: ...


@dataclass(eq=False)
class Connections(Collector):
    """The limits, and the metrics."""

    most: int
    head_seconds: int
    body_seconds: int
    write_seconds: int
    trusted_proxies: list[Network]
    # Of responses that this server makes itself.
    headers: dict[str, str]
    # Told of each request whose head is complete and that HTTP refuses all the same, with the id of the answer.
    refused: Callable[[Scope, UUID], None] = _tell_nobody
    open: int = 0
    _cut_off: Counts[Reason] = field(default_factory=lambda: Counts(dict.fromkeys(Reason, 0)))

    @classmethod
    def of(cls, settings: Settings) -> Self:
        return cls(
            settings.max_connections,
            settings.head_deadline,
            settings.body_deadline,
            settings.write_deadline,
            settings.trusted_proxies,
            security_headers(settings.public_url),
        )

    def count(self, reason: Reason) -> None:
        self._cut_off[reason] += 1

    def sweep(self, connections: Iterable[Connection]) -> None:
        """Call this once a second."""
        swept = list(connections)
        for connection in swept:
            connection.pass_second()
        self.open = len(swept)

    def collect(self) -> Iterator[Metric]:
        cut_off = CounterMetricFamily(
            "gatepass_connections_cut_off", "Connections that this process closed on their caller", labels=["reason"]
        )
        for reason, count in self._cut_off.items():
            cut_off.add_metric([reason], count)
        yield cut_off
        yield GaugeMetricFamily("gatepass_connections_open", "Connections open now", self.open)

    def raise_file_limit(self) -> None:
        """Let the process open as many files as it may have connections; if it must not, allow fewer connections."""
        soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
        wanted = self.most + OTHER_FILES
        if hard != resource.RLIM_INFINITY and wanted > hard:
            self.most = max(hard - OTHER_FILES, hard // 2)
            log.warning("few_files", limit=hard, connections=self.most)
            wanted = hard
        if soft != resource.RLIM_INFINITY and soft < wanted:
            resource.setrlimit(resource.RLIMIT_NOFILE, (wanted, hard))
