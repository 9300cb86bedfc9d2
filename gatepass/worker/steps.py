"""Work beside the deliveries, step by step: a failed step ends nothing, and an idle runner waits."""

import asyncio
from collections.abc import Awaitable, Callable

from gatepass.base.errors import NotNow
from gatepass.base.log import logger
from gatepass.base.server_clock import ClocksDiffer

log = logger(__name__)


async def keep_stepping(step: Callable[[], Awaitable[bool]], idle_seconds: float, failure: str) -> None:
    """Call `step` until cancelled, at once again if it found work. `failure` names a failed step in the log."""
    while True:
        try:
            worked = await step()
        except (NotNow, ClocksDiffer):
            worked = False  # the next step finds the database back, or the clocks agreed
        except Exception:
            worked = False
            log.exception(failure)
        await asyncio.sleep(0 if worked else idle_seconds)
