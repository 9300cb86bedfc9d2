"""Hands that use a page: with a mouse or a finger, or by the keyboard alone."""

import asyncio
import re
from dataclasses import dataclass
from datetime import datetime
from typing import Final, Literal

from playwright.async_api import FileChooser, FilePayload, Page

Role = Literal["link", "button"]
# So many presses of Tab reach everything on a page.
MOST_TABS: Final = 400
# A press of Enter that nothing answers within so many seconds is made again.
AGAIN_AFTER, MOST_PRESSES = 5.0, 10
# The elements of a role, as a keyboard meets them.
ELEMENTS: Final = {"link": "a[href]", "button": "button", "summary": "summary", "field": "input, textarea, select"}
# The name of the focused element, roughly as a screen reader says it; null if it is not of the kind that is looked for.
FOCUSED: Final = """(selector) => {
    const one = document.activeElement;
    if (!one.matches(selector)) return null;
    const texts = [one.getAttribute("aria-label"), one.labels?.[0]?.innerText, one.innerText];
    return texts.find((text) => text?.trim())?.trim() ?? null;
}"""


@dataclass
class Pointer:
    page: Page

    async def press(self, role: Role, name: str) -> None:
        await self.page.get_by_role(role, name=re.compile(rf"^\s*{re.escape(name)}")).first.click()

    async def open(self, words: str) -> None:
        await self.page.locator("summary", has_text=words).first.click()

    async def write(self, label: str, text: str) -> None:
        await self.page.get_by_label(re.compile(rf"^\s*{re.escape(label)}")).first.fill(text)

    async def choose(self, label: str, words: str) -> None:
        field = self.page.get_by_label(re.compile(rf"^\s*{re.escape(label)}"))
        await field.select_option(await field.locator("option", has_text=words).first.get_attribute("value"))

    async def date(self, label: str, at: datetime) -> None:
        await self.page.get_by_label(f"{label} date").fill(f"{at:%Y-%m-%d}")
        await self.page.get_by_label(f"{label} time").fill(f"{at:%H:%M}")

    async def attach(self, label: str, file: FilePayload) -> None:
        await self.page.get_by_label(label).set_input_files(file)


@dataclass
class Keyboard:
    """Nothing is clicked: each element is reached by Tab, and used by Enter, letters and digits."""

    page: Page

    async def press(self, role: Role, name: str) -> None:
        await self._reach(role, name)
        await self.page.keyboard.press("Enter")

    async def open(self, words: str) -> None:
        await self._reach("summary", words)
        await self.page.keyboard.press("Enter")

    async def write(self, label: str, text: str) -> None:
        await self._reach("field", label)
        await self.page.keyboard.press("Control+a")
        await self.page.keyboard.insert_text(text)

    async def choose(self, label: str, words: str) -> None:
        """Letters choose the option that begins with them."""
        await self._reach("field", label)
        await self.page.keyboard.type(words)

    async def date(self, label: str, at: datetime) -> None:
        """As Chromium takes it in English: the digits walk through month, day and year by themselves."""
        await self._reach("field", f"{label} date")
        await self.page.keyboard.type(f"{at:%m%d%Y}")
        await self._reach("field", f"{label} time")
        await self.page.keyboard.type(f"{at:%I%M%p}")

    async def attach(self, label: str, file: FilePayload) -> None:
        """A page that has just come may not answer the first Enter; a person presses it again."""
        await self._reach("field", label)
        chosen: asyncio.Future[FileChooser] = asyncio.get_running_loop().create_future()
        # Playwright takes no built-in function.
        self.page.once("filechooser", lambda chooser: chosen.set_result(chooser))  # noqa: PLW0108
        for _ in range(MOST_PRESSES):
            await self.page.keyboard.press("Enter")
            if (await asyncio.wait([chosen], timeout=AGAIN_AFTER))[0]:
                break
        await chosen.result().set_files(file)

    async def _reach(self, kind: str, name: str) -> None:
        for _ in range(MOST_TABS):
            focused = await self.page.evaluate(FOCUSED, ELEMENTS[kind])
            if focused is not None and focused.startswith(name):
                return
            await self.page.keyboard.press("Tab")
        raise AssertionError(f"no Tab leads to the {kind} {name!r}")


Hands = Pointer | Keyboard
