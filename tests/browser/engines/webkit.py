"""WebKitGTK, the engine of Safari, on a screen that nobody sees. Debian: webkit2gtk-driver, xvfb, dbus."""

import asyncio
import os
import signal
import subprocess
from collections.abc import Callable, Generator
from contextlib import contextmanager
from pathlib import Path
from typing import Final, Literal, TypeVar

from selenium.webdriver import Remote, WebKitGTKOptions
from selenium.webdriver.remote.client_config import ClientConfig
from selenium.webdriver.remote.remote_connection import RemoteConnection
from selenium.webdriver.support.ui import WebDriverWait

from tests.browser.visit import PATIENCE
from tests.postgres import free_port
from tests.processes import wait_until_listening

BROWSER: Final = Path("/usr/lib/x86_64-linux-gnu/webkit2gtk-4.1/MiniBrowser")
# Its sandbox needs namespaces, which containers do not give.
ENVIRONMENT: Final = {"WEBKIT_DISABLE_SANDBOX_THIS_IS_DANGEROUS": "1", "LIBGL_ALWAYS_SOFTWARE": "1"}
T = TypeVar("T")


class WebkitPage:
    """What such a browser shows. Selenium waits for its answers; the network of a test runs meanwhile."""

    def __init__(self, browser: Remote) -> None:
        self._browser = browser

    async def do(self, action: Callable[[Remote], T]) -> T:
        return await asyncio.to_thread(action, self._browser)

    async def until(self, found: Callable[[Remote], T | Literal[False]], *, within: float = PATIENCE) -> T:
        """What it finds, as soon as that is something."""
        return await self.do(lambda browser: WebDriverWait(browser, within, 0.1).until(found))


@contextmanager
def webkit_browser() -> Generator[Remote]:
    with _screen() as display, _driver(display) as port:
        options = WebKitGTKOptions()
        options.binary_location = str(BROWSER)
        options.add_argument("--automation")
        config = ClientConfig(f"http://127.0.0.1:{port}")
        browser = Remote(RemoteConnection(client_config=config), options=options)
        try:
            browser.set_window_size(390, 844)
            browser.set_script_timeout(10)
            yield browser
        finally:
            browser.quit()


@contextmanager
def _screen() -> Generator[str]:
    """A display of X; the server chooses its number and tells it."""
    read, write = os.pipe()
    server = subprocess.Popen(
        ["Xvfb", "-displayfd", str(write), "-screen", "0", "800x1000x24", "-nolisten", "tcp"],
        pass_fds=[write],
        stderr=subprocess.DEVNULL,
    )
    os.close(write)
    try:
        with os.fdopen(read) as chosen:
            yield f":{chosen.readline().strip()}"
    finally:
        server.terminate()
        server.wait(10)


@contextmanager
def _driver(display: str) -> Generator[int]:
    port = free_port()
    driver = subprocess.Popen(
        ["dbus-run-session", "--", "WebKitWebDriver", "--host=127.0.0.1", f"--port={port}"],
        env={**os.environ, **ENVIRONMENT, "DISPLAY": display},
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    )
    try:
        wait_until_listening(driver, port)
        yield port
    finally:
        # With the bus and the browser that it started.
        os.killpg(driver.pid, signal.SIGTERM)
        driver.wait(10)
