"""The User-Agent header in words: `Firefox on Windows`."""

from typing import Final

# In this order: most browsers also name those further down.
BROWSERS: Final = (
    ("Edg", "Edge"), ("OPR/", "Opera"), ("Firefox/", "Firefox"), ("FxiOS", "Firefox"), ("CriOS", "Chrome"),
    ("Chrome/", "Chrome"), ("Safari/", "Safari"), ("curl/", "curl"),
)  # fmt: skip
SYSTEMS: Final = (
    ("iPhone", "iPhone"), ("iPad", "iPad"), ("Android", "Android"), ("CrOS", "ChromeOS"), ("Windows", "Windows"),
    ("Mac OS X", "Mac"), ("Linux", "Linux"),
)  # fmt: skip


def browser_name(agent: str | None) -> str:
    browser = next((name for sign, name in BROWSERS if sign in (agent or "")), None)
    system = next((name for sign, name in SYSTEMS if sign in (agent or "")), None)
    return " on ".join(part for part in (browser, system) if part) or "Unknown browser"
