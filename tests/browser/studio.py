"""The studio in a real browser: the stack, signing in, accessibility, and pictures for the documents."""

import os
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from playwright.async_api import Page

from gatepass.base.ids import new_id
from gatepass.domain import staff
from gatepass.domain.staff import Role
from tests import make
from tests.browser.visiting import DESKTOP, Visit, Visitor
from tests.serving import Serving

ROOT = Path(__file__).parents[2]
AXE = ROOT / "tools" / "node_modules" / "axe-core" / "axe.min.js"
# The hundreds of options of a list of time zones are the browser's own to draw, and take axe seconds.
RUN_AXE = "() => axe.run({exclude: [['option']]}, {resultTypes: ['violations']})"
PICTURES = ROOT / "docs" / "studio"


@dataclass
class Stack:
    """Real processes: the API and the studio behind one port, and a worker."""

    serving: Serving
    worker: Serving

    @property
    def origin(self) -> str:
        """Browsers trust localhost as they trust TLS; passkeys and `__Host-` cookies need that."""
        return f"http://localhost:{self.serving.port}"

    def url(self, rest: str, mode: str = "live") -> str:
        return self.origin + (rest if rest.startswith("/") else f"/studio/{mode}/{rest}")


async def sign_in(
    stack: Stack, house: make.House, visit: Visitor, *, role: Role = Role.OWNER, name: str = "Ada Byron", **look: Any
) -> Visit:
    """A browser of somebody with this role, arrived by a one-time link; it shows the home page."""
    async with house.db.transaction() as tx:
        person = await staff.enrol(tx, f"ada.{new_id().hex[-6:]}@example.org", name, at=make.now())
        await staff.join(tx, house.id, person.id, role, by=make.BY, at=make.now())
        token = await staff.make_link(tx, person.id, at=make.now())
    visited = await visit(**look)
    await visited.page.goto(stack.url(f"/studio/link/{token}"))
    await visited.page.get_by_role("button", name="Open the studio").click()
    await visited.page.wait_for_url("**/home")
    return visited


async def violations(page: Page) -> list[str]:
    """What axe has to say against this page, as it is now."""
    if not await page.evaluate("() => 'axe' in window"):
        await page.evaluate(AXE.read_text())
    found = await page.evaluate(RUN_AXE)
    return [
        f"{one['id']}: {node['html'][:200]} {node['any'][0]['message'] if node['any'] else ''}"
        for one in found["violations"]
        for node in one["nodes"]
    ]


async def picture(page: Page, name: str) -> None:
    """A picture for docs/studio, written only when GATEPASS_PICTURES is set: `make pictures`."""
    if os.environ.get("GATEPASS_PICTURES"):
        PICTURES.mkdir(parents=True, exist_ok=True)
        await page.set_viewport_size(DESKTOP)
        await page.screenshot(path=PICTURES / f"{name}.png")
