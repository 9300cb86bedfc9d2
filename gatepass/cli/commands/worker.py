"""`gatepass worker`: delivers webhooks and does maintenance. Run one or several; any of them may be killed."""

import asyncio
import gc
import resource
import signal
from typing import Final

from prometheus_client.registry import Collector

from gatepass import __version__
from gatepass.base import log
from gatepass.base.log.background import write_in_background
from gatepass.base.settings import Settings
from gatepass.cli.settings import read_settings_with_vault, variable
from gatepass.server import run

PRIVATE_ALLOWED: Final = "WEBHOOKS MAY GO TO PRIVATE ADDRESSES AND OVER PLAIN HTTP. NEVER RUN A LIVE SERVICE LIKE THIS."


def worker() -> None:
    """Deliver webhooks, cancel tickets of cancelled events, keep partitions, until told to stop."""
    import uvloop  # noqa: PLC0415  `gatepass --help` should not wait for it

    settings = read_settings_with_vault()
    if settings.worker_metrics_port:
        run.require_free(settings.host, settings.worker_metrics_port, variable("worker_metrics_port"))
    lines_lost = write_in_background()
    log.configure(settings.log_level, settings.log_format)
    if settings.webhook_allow_private:
        log.logger(__name__).warning(PRIVATE_ALLOWED, setting=variable("webhook_allow_private"))
    _raise_file_limit()
    uvloop.run(work(settings, lines_lost))


async def work(settings: Settings, lines_lost: Collector) -> None:
    from gatepass.worker.worker import Worker  # noqa: PLC0415

    working = Worker(settings)
    working.metrics.registry.register(lines_lost)
    for number in (signal.SIGTERM, signal.SIGINT):
        asyncio.get_running_loop().add_signal_handler(number, working.stop)
    gc.freeze()
    run.announce_ready(f"Gatepass {__version__} delivers webhooks")
    await working.run()


def _raise_file_limit() -> None:
    """Thousands of receivers need thousands of connections, and the limit of many systems is 1,024."""
    _, most = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (most, most))
