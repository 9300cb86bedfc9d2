"""The menu: which sections there are, and who sees them."""

from dataclasses import dataclass
from typing import Final

from gatepass.domain.keys import Mode
from gatepass.domain.staff import MAY, Permission, Role
from gatepass.studio.drawing import ROOT


@dataclass(frozen=True, slots=True)
class Section:
    name: str
    title: str
    icon: str
    needs: Permission | None = None


@dataclass(frozen=True, slots=True)
class Entry:
    title: str
    icon: str
    url: str
    current: bool


SECTIONS: Final = (
    Section("home", "Home", "house"),
    Section("events", "Events", "calendar-days", Permission.EVENTS_READ),
    Section("cards", "Cards", "id-card", Permission.TICKETS_READ),
    Section("keys", "API keys", "key-round", Permission.KEYS_READ),
    Section("requests", "Request log", "list", Permission.REQUESTS_READ),
    Section("webhooks", "Webhooks", "webhook", Permission.WEBHOOKS_READ),
    Section("audit", "Audit", "scroll-text", Permission.AUDIT_READ),
    Section("team", "Team", "users", Permission.TEAM_READ),
    Section("settings", "Settings", "settings", Permission.SETTINGS_READ),
)


def menu_of(role: Role, mode: Mode, path: str) -> list[Entry]:
    return [
        Entry(one.title, one.icon, f"{ROOT}/{mode}/{one.name}", _is_current(path, mode, one.name))
        for one in SECTIONS
        if one.needs is None or one.needs in MAY[role]
    ]


def _is_current(path: str, mode: Mode, name: str) -> bool:
    place = f"{ROOT}/{mode}/{name}"
    return path == place or path.startswith(place + "/")
