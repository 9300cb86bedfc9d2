"""The menu: the sections, and the permission that each needs."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from gatepass.domain.staff import MAY, Permission, Role


@dataclass(frozen=True, slots=True)
class MenuSection:
    name: str
    title: str
    icon: str
    needs: Permission | None = None


@dataclass(frozen=True, slots=True)
class MenuEntry:
    title: str
    icon: str
    url: str
    current: bool
    attention: int = 0


SECTIONS: Final = (
    MenuSection("home", "Home", "house"),
    MenuSection("events", "Events", "calendar-days", Permission.EVENTS_READ),
    MenuSection("cards", "Cards", "id-card", Permission.TICKETS_READ),
    MenuSection("devices", "Devices", "smartphone", Permission.DEVICES),
    MenuSection("keys", "API keys", "key-round", Permission.KEYS_READ),
    MenuSection("requests", "Request log", "list", Permission.REQUESTS_READ),
    MenuSection("webhooks", "Webhooks", "webhook", Permission.WEBHOOKS_READ),
    MenuSection("audit", "Audit log", "scroll-text", Permission.AUDIT_READ),
    MenuSection("team", "Team", "users", Permission.TEAM_READ),
    MenuSection("settings", "Settings", "settings", Permission.SETTINGS_READ),
)


def menu_of(role: Role, root: str, path: str, attention: Mapping[str, int]) -> list[MenuEntry]:
    """`attention` is how many things in a section need it, by the section's name."""
    return [
        MenuEntry(
            one.title,
            one.icon,
            f"{root}/{one.name}",
            _is_current(path, root, one.name),
            attention.get(one.name, 0),
        )
        for one in SECTIONS
        if one.needs is None or one.needs in MAY[role]
    ]


def _is_current(path: str, root: str, name: str) -> bool:
    place = f"{root}/{name}"
    return path == place or path.startswith(place + "/")
