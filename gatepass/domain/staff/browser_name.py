"""What a browser calls itself, in words that its owner knows."""

from typing import Final

# In this order: most of them also claim to be those further down.
BROWSERS: Final = (
    ("Edg", "Edge"), ("OPR/", "Opera"), ("Firefox/", "Firefox"), ("FxiOS", "Firefox"), ("CriOS", "Chrome"),
    ("Chrome/", "Chrome"), ("Safari/", "Safari"), ("curl/", "curl"),
)  # fmt: skip
SYSTEMS: Final = (
    ("iPhone", "iPhone"), ("iPad", "iPad"), ("Android", "Android"), ("CrOS", "ChromeOS"), ("Windows", "Windows"),
    ("Mac OS X", "Mac"), ("Linux", "Linux"),
)  # fmt: skip


def browser_name(agent: str | None) -> str:
    """`Firefox on Windows`, as far as it says so."""
    browser = next((name for sign, name in BROWSERS if sign in (agent or "")), None)
    system = next((name for sign, name in SYSTEMS if sign in (agent or "")), None)
    return " on ".join(part for part in (browser, system) if part) or "Unknown browser"
