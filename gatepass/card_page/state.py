"""The state of a card as JSON: all that its page shows, with times in the holder's language and the venue's zone."""

from collections.abc import Mapping
from datetime import datetime
from typing import Any
from zoneinfo import ZoneInfo

from gatepass.base.clock import rfc3339
from gatepass.base.language import Language, translations, written
from gatepass.card_page.words import LANGUAGES
from gatepass.domain.card_view import CardView, ShownEvent
from gatepass.domain.cards import LinkState


def state_of(view: CardView, token: str, language: Language, wallets: Mapping[str, str | None]) -> dict[str, Any]:
    code = view.code
    return {
        "version": view.version,
        "now": int(view.at.timestamp()),
        "language": language,
        "card": {"number": view.number, "status": view.status},
        "sandbox": view.sandbox,
        "organizer": view.organizer,
        "look": {
            "name": view.look.name,
            "logo": f"/c/{token}/logo/{view.look.logo_id}" if view.look.logo_id else None,
            "colour": view.look.colour,
            "ink": view.look.ink,
            "line": view.look.line,
        },
        "events": [_event(event, view.at, language) for event in view.events],
        "code": {"token": code.token, "expires_at": int(code.expires_at.timestamp())} if code else None,
        "phone": {"state": "none" if view.phone is None else "enrolled", "enrolment": view.phone},
        "wallets": dict(wallets),
        "notice": None,
    }


def ended_state(state: LinkState, at: datetime, language: Language) -> dict[str, Any]:
    """The state behind a link that ended: why, and nothing of the card."""
    status = "ended" if state is LinkState.ENDED else "replaced"
    return {
        "version": state,
        "now": int(at.timestamp()),
        "language": language,
        "card": {"number": None, "status": status},
        "sandbox": False,
        "organizer": None,
        "look": None,
        "events": [],
        "code": None,
        "phone": {"state": "none", "enrolment": None},
        "wallets": {"apple": None, "google": None},
        "notice": ended_notice(state, language),
    }


def ended_notice(state: LinkState, language: Language) -> str:
    words = translations(LANGUAGES, language)
    match state:
        case LinkState.REPLACED:
            return words.gettext("This link was replaced by a newer one. Open the newest link that you were given.")
        case LinkState.CARD_REPLACED:
            return words.gettext("This card was replaced by another one. Open the link of your new card.")
        case _:
            return words.gettext("This card has ended. Ask the organizer if you did not expect this.")


def _event(event: ShownEvent, at: datetime, language: Language) -> dict[str, Any]:
    return {
        "id": str(event.id),
        "name": event.title,
        "starts_at": rfc3339(event.starts_at),
        "ends_at": rfc3339(event.ends_at),
        "time_zone": event.time_zone,
        "when": _when(event, at, language),
        "venue": ", ".join(part for part in (event.venue, event.city) if part) or None,
        "category": event.category,
        "state": event.state(at),
        "activated_at": rfc3339(event.activated_at) if event.activated_at else None,
        "activated_when": _written(event.activated_at, "HH:mm", event, language) if event.activated_at else None,
        "gate": event.gate,
        "codes": event.codes,
    }


def _when(event: ShownEvent, at: datetime, language: Language) -> str:
    """`Sat 21 Nov, 19:30` in the venue's time; with the year if it is not this one."""
    zone = ZoneInfo(event.time_zone)
    same_year = event.starts_at.astimezone(zone).year == at.astimezone(zone).year
    return _written(event.starts_at, "EEE d MMM, HH:mm" if same_year else "EEE d MMM y, HH:mm", event, language)


def _written(moment: datetime, form: str, event: ShownEvent, language: Language) -> str:
    return written(moment, form, ZoneInfo(event.time_zone), language)
