"""A visit: one page in a real browser, with a list of its requests and of its console errors."""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from typing import Literal

from playwright.async_api import ConsoleMessage, Page, Request, ViewportSize

DESKTOP = ViewportSize(width=1280, height=800)
PHONE = ViewportSize(width=390, height=844)

# Seconds that a test waits for what should come. As long as Playwright waits for anything but `expect`.
PATIENCE = 30.0

Colours = Literal["light", "dark"]

# A violation of the Content-Security-Policy is an event; the console does not always show it.
TELL_VIOLATIONS = """
    document.addEventListener("securitypolicyviolation", (event) =>
        console.error(`policy: ${event.violatedDirective} ${event.blockedURI}`));
"""


@dataclass
class Visit:
    page: Page
    requests: list[str] = field(default_factory=list[str])
    complaints: list[str] = field(default_factory=list[str])

    def __post_init__(self) -> None:
        self.page.on("request", self._requested)
        self.page.on("console", self._said)
        self.page.on("pageerror", lambda error: self.complaints.append(f"uncaught: {error}"))
        self.page.on("requestfailed", self._failed)

    def _requested(self, request: Request) -> None:
        self.requests.append(request.url)

    def _failed(self, request: Request) -> None:
        # Navigation aborts the requests that the last page was still loading.
        if request.failure != "net::ERR_ABORTED":
            self.complaints.append(f"failed: {request.url} {request.failure}")

    def _said(self, message: ConsoleMessage) -> None:
        if message.type in ("error", "warning"):
            self.complaints.append(f"{message.type}: {message.text}")

    def elsewhere(self, origin: str) -> list[str]:
        """The requests that went to another origin."""
        return [url for url in self.requests if not url.startswith((f"{origin}/", "data:", "blob:"))]


Visitor = Callable[..., Awaitable[Visit]]
