"""The browsers of the tests, as Debian installs them."""

import os
from typing import Final

# The engine of Chromium without window and toolbars: a picture of a page takes a quarter of the CPU, and is never
# refused for want of a frame.
HEADLESS_SHELL: Final = os.environ.get("HEADLESS_SHELL", "/usr/bin/chromium-headless-shell")
# The whole browser, where it is killed, asks a person for permission, or keeps a camera open.
CHROMIUM: Final = os.environ.get("CHROMIUM", "/usr/bin/chromium")
FIREFOX: Final = "/usr/bin/firefox-esr"

QUIET: Final = (
    "--no-sandbox",
    "--disable-gpu",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-domain-reliability",
    "--disable-sync",
    "--no-first-run",
    "--site-per-process",  # the whole browser does so by itself
)
