"""The roles of the studio: what each may do, and which fields of guests it sees."""

from enum import StrEnum
from typing import Final

from gatepass.base.errors import Refusal
from gatepass.domain.visibility import GuestField, Sight


class Role(StrEnum):
    """From the role with every permission to the one that only reads."""

    OWNER = "owner"
    ADMIN = "admin"
    DEVELOPER = "developer"
    GATE_LEAD = "gate_lead"
    VIEWER = "viewer"

    @property
    def spoken(self) -> str:
        return self.value.replace("_", " ")


class Permission(StrEnum):
    """A permission that a page or a button of the studio needs. The value ends the sentence "Your role may not …"."""

    EVENTS_READ = "see events"
    EVENTS_WRITE = "change events"
    LIVE_READ = "see the live page"
    TICKETS_READ = "see tickets and cards"
    TICKETS_WRITE = "change tickets and cards"
    TICKETS_IMPORT = "import tickets"
    CARDS_EXPORT = "print or export many cards"
    DEVICES = "pair and end devices"
    KEYS_READ = "see API keys"
    KEYS_WRITE = "make and revoke API keys"
    REQUESTS_READ = "see the request log"
    WEBHOOKS_READ = "see webhooks"
    WEBHOOKS_WRITE = "change webhooks"
    AUDIT_READ = "see the audit log"
    TEAM_READ = "see the team"
    TEAM_WRITE = "change the team"
    SETTINGS_READ = "see the settings"
    SETTINGS_WRITE = "change the settings"
    HOLDERS_ERASE = "erase card holders"
    ACCESS_WRITE = "change who may enter the studio"


class NotPermitted(Refusal):
    """Your role does not allow this."""

    code = "not_permitted"


_LOOK: Final = {Permission.EVENTS_READ, Permission.LIVE_READ, Permission.TICKETS_READ, Permission.TEAM_READ}
_GATE: Final = _LOOK | {Permission.TICKETS_WRITE, Permission.DEVICES}
_BUILD: Final = _LOOK | {
    Permission.KEYS_READ,
    Permission.KEYS_WRITE,
    Permission.REQUESTS_READ,
    Permission.WEBHOOKS_READ,
    Permission.WEBHOOKS_WRITE,
    Permission.AUDIT_READ,
    Permission.SETTINGS_READ,
}

MAY: Final[dict[Role, frozenset[Permission]]] = {
    Role.OWNER: frozenset(Permission),
    Role.ADMIN: frozenset(Permission) - {Permission.ACCESS_WRITE},
    Role.DEVELOPER: frozenset(_BUILD),
    Role.GATE_LEAD: frozenset(_GATE),
    Role.VIEWER: frozenset(_LOOK),
}

# What pages, searches, downloads and streams show. Where typed numbers are taken, a whole number is entry. A key or an
# endpoint that a developer makes carries numbers all the same, as programs need them; making one is in the audit log.
SEES: Final[dict[Role, Sight]] = {
    Role.OWNER: Sight(frozenset(GuestField)),
    Role.ADMIN: Sight(frozenset(GuestField)),
    Role.DEVELOPER: Sight(frozenset()),
    Role.GATE_LEAD: Sight(frozenset(GuestField)),
    Role.VIEWER: Sight(frozenset()),
}

# Nobody gives or takes a role above their own.
RANK: Final[dict[Role, int]] = {role: place for place, role in enumerate(reversed(Role))}
