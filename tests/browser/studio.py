"""The studio in a real browser: the stack, signing in, accessibility, and pictures for the documents."""

import os
import re
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from playwright.async_api import Page

from gatepass.base.ids import new_id
from gatepass.domain import staff
from gatepass.domain.staff import Role
from tests import factory
from tests.browser.visit import DESKTOP, Visit, Visitor
from tests.processes import GatepassProcess

ROOT = Path(__file__).parents[2]
AXE = ROOT / "tools" / "node_modules" / "axe-core" / "axe.min.js"
# The browser draws the hundreds of options of a list of time zones itself, and axe needs seconds for them.
RUN_AXE = "async () => (await axe.run({exclude: [['option']]}, {resultTypes: ['violations']})).violations"
PICTURES = ROOT / "docs" / "studio"


@dataclass
class Stack:
    """Real processes: the API and the studio behind one port, and a worker."""

    server: GatepassProcess
    worker: GatepassProcess

    @property
    def origin(self) -> str:
        """Browsers trust localhost as they trust TLS; passkeys and `__Host-` cookies need that."""
        return f"http://localhost:{self.server.port}"

    def page(self, rest: str) -> re.Pattern[str]:
        """Where a page is, in whichever organization. A page that only leads there has it in its query."""
        return re.compile(rf"^{re.escape(self.origin)}[^?]*/{re.escape(rest)}$")

    def url(self, rest: str, mode: str = "live") -> str:
        """An address without an organization is that of the session."""
        return self.origin + (rest if rest.startswith("/") else f"/studio/{mode}/{rest}")


async def sign_in(
    stack: Stack,
    tenant: factory.Tenant,
    visit: Visitor,
    *,
    role: Role = Role.OWNER,
    name: str = "Ada Byron",
    wait_for: str = "**/home",
    **look: Any,
) -> Visit:
    """A browser signed in by a one-time link, as somebody new with this role; it shows the home page."""
    async with tenant.db.transaction() as tx:
        person = await staff.enrol(tx, f"ada.{new_id().hex[-6:]}@example.org", name, at=factory.now())
        await staff.join(tx, tenant.id, person.id, role, by=factory.BY, at=factory.now())
        token = await staff.make_link(tx, person.id, cell="a", at=factory.now())
    visited = await visit(**look)
    await visited.page.goto(stack.url(f"/studio/link/{token}"))
    await visited.page.get_by_role("button", name="Open the studio").click()
    await visited.page.wait_for_url(wait_for)
    return visited


async def violations(page: Page) -> list[str]:
    """The violations that axe finds on this page, as it is now."""
    if not await page.evaluate("() => 'axe' in window"):
        await page.evaluate(AXE.read_text())
    found = await page.evaluate(RUN_AXE)
    return [
        f"{one['id']}: {node['html'][:200]} {node['any'][0]['message'] if node['any'] else ''}"
        for one in found
        for node in one["nodes"]
    ]


async def picture(page: Page, name: str) -> None:
    """Write a picture for docs/studio, if GATEPASS_PICTURES is set: `make pictures`."""
    if os.environ.get("GATEPASS_PICTURES"):
        PICTURES.mkdir(parents=True, exist_ok=True)
        await page.set_viewport_size(DESKTOP)
        await page.screenshot(path=PICTURES / f"{name}.png")
