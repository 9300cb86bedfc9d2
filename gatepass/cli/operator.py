"""What the commands for operators share: the actor, the organization or person that is meant, and their log lines."""

import sys
from datetime import datetime
from typing import Final

from gatepass.base import log
from gatepass.base.database import Tx
from gatepass.base.settings import Settings
from gatepass.base.text import is_line
from gatepass.cli.errors import WRONG_USAGE, CommandError
from gatepass.domain import organizations, staff
from gatepass.domain.organizations import Organization
from gatepass.domain.staff import Person

BY: Final = "operator"
LONGEST_REASON: Final = 500
# Rows that a list reads at a time.
PAGE: Final = 500


def log_events(settings: Settings) -> None:
    """Write security events to stderr, as the processes do, unless a person reads it: they read the answer."""
    if not sys.stderr.isatty():
        log.configure("info", settings.log_format)


async def the_organization(tx: Tx, name: str) -> Organization:
    """The organization with this name or id."""
    found = await organizations.named(tx, name)
    if not found:
        raise CommandError(f"No organization is called {name}.")
    if len(found) > 1:
        ids = ", ".join(str(one.id) for one in found)
        raise CommandError(f"Several organizations are called {name}. Name one by its id: {ids}.")
    return found[0]


async def the_person(tx: Tx, email: str) -> Person:
    found = await staff.find_person(tx, email)
    if found is None:
        raise CommandError(f"Nobody here has the e-mail address {email}.")
    return found


def checked_reason(text: str) -> str:
    """A reason is shown in the studio: one line that can be read."""
    reason = text.strip()
    if len(reason) > LONGEST_REASON or not is_line(reason):
        raise CommandError(f"A reason is one line of 1 to {LONGEST_REASON} characters.", code=WRONG_USAGE)
    return reason


def day(at: datetime | None) -> str:
    return "never" if at is None else f"{at:%Y-%m-%d}"


def studio_origin(settings: Settings) -> str:
    """The origin of the studio in a browser. `gatepass --help` does not wait for this import."""
    from gatepass.domain.staff.webauthn import relying_party  # noqa: PLC0415

    return relying_party(settings.public_url).origin
