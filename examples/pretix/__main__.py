"""python -m examples.pretix bridge.toml

It runs until it is stopped, and may be killed at any moment. README.md has the settings.
"""

import asyncio
import logging
import os
import sys
import tomllib
from collections.abc import Awaitable, Callable
from contextlib import closing
from pathlib import Path
from typing import Any, Final

import httpx2

from gatepass_sdk import AsyncGatepass, GatepassError

from .checkins import Checkins
from .client import Pretix
from .cursors import Cursors
from .orders import Orders

EVERY: Final = 2.0

log = logging.getLogger("bridge")


async def bridge(settings: dict[str, Any], file: Path) -> None:
    event_id, shop = settings["gatepass"]["event_id"], settings["pretix"]
    url = f"{shop['url'].rstrip('/')}/api/v1/organizers/{shop['organizer']}/events/{shop['event']}/"
    token = {"Authorization": f"Token {os.environ['PRETIX_TOKEN']}"}
    async with httpx2.AsyncClient(base_url=url, headers=token, timeout=30) as http, AsyncGatepass() as gatepass:
        with closing(Cursors(file)) as cursors:
            pretix = Pretix(http, shop["checkin_list"])
            orders = Orders(pretix, gatepass, cursors, event_id, settings["categories"])
            checkins = Checkins(pretix, gatepass, cursors, event_id)
            await asyncio.gather(repeat(orders.step), repeat(checkins.step))


async def repeat(step: Callable[[], Awaitable[None]]) -> None:
    """Both sides may be away for hours: a step that fails is repeated, from the cursor that was stored last."""
    said = None
    while True:
        trouble = None
        try:
            await step()
        except (GatepassError, httpx2.HTTPError) as error:
            trouble = str(error) or type(error).__name__
        if trouble != said:
            log.warning("It works again." if trouble is None else f"{trouble} It is tried again.")
        said = trouble
        await asyncio.sleep(EVERY)


def main() -> None:
    logging.basicConfig(format="%(asctime)s %(name)s: %(message)s", level=logging.WARNING)
    path = Path(sys.argv[1])
    asyncio.run(bridge(tomllib.loads(path.read_text()), path.with_suffix(".db")))


if __name__ == "__main__":
    main()
