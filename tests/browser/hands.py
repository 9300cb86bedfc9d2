"""Hands that use a page: with a mouse or a finger, or by the keyboard alone."""

import re
from dataclasses import dataclass
from typing import Literal

from playwright.async_api import Page

Role = Literal["link", "button"]
# So many presses of Tab reach everything on a page.
MOST_TABS = 400
# The name of the element that has the focus, as a screen reader would say it, roughly.
FOCUSED = """() => {
    const one = document.activeElement;
    const label = one.labels && one.labels.length ? one.labels[0].innerText : "";
    return [one.getAttribute("aria-label"), label, one.innerText].find((text) => text && text.trim())?.trim() ?? "";
}"""


@dataclass
class Pointer:
    page: Page

    async def press(self, role: Role, name: str) -> None:
        await self.page.get_by_role(role, name=name).first.click()

    async def open(self, words: str) -> None:
        await self.page.locator("summary", has_text=words).first.click()

    async def write(self, label: str, text: str) -> None:
        await self.page.get_by_label(re.compile(rf"^\s*{re.escape(label)}")).first.fill(text)


@dataclass
class Keyboard:
    """Nothing is clicked: what is wanted is reached by Tab, from the top of the page on."""

    page: Page

    async def press(self, role: Role, name: str) -> None:  # noqa: ARG002  a keyboard meets a name, not a role
        await self._reach(name)
        await self.page.keyboard.press("Enter")

    async def open(self, words: str) -> None:
        await self._reach(words)
        await self.page.keyboard.press("Enter")

    async def write(self, label: str, text: str) -> None:
        await self._reach(label)
        await self.page.keyboard.press("Control+a")
        await self.page.keyboard.insert_text(text)

    async def _reach(self, name: str) -> None:
        for _ in range(MOST_TABS):
            if (await self.page.evaluate(FOCUSED)).startswith(name):
                return
            await self.page.keyboard.press("Tab")
        raise AssertionError(f"no Tab leads to {name!r}")


Hands = Pointer | Keyboard
