"""Lists that are read page by page.

The filters and the place where a page begins are in the URL, so that a list can be sent to a colleague as it is.
"""

from datetime import UTC, datetime
from typing import Annotated, Any, Final, TypeVar
from urllib.parse import urlencode
from zoneinfo import ZoneInfo

from pydantic import AfterValidator, BaseModel, BeforeValidator, ValidationInfo

from gatepass.base.paging import Place, cursor_text, read_cursor_text
from gatepass.studio.web.context import Context
from gatepass.studio.web.forms import Form

M = TypeVar("M", bound=BaseModel)

PAGE: Final = 50
AFTER: Final = "after"
# Times until the year 5138, which the PostgreSQL driver can encode.
MOST_DIGITS: Final = 17


def place_text(place: Place) -> str:
    return cursor_text(place.micros, place.id)


def place_of(text: str) -> Place | None:
    """The place; None, and so the first page, for a text that is not one."""
    found = read_cursor_text(text, digits=MOST_DIGITS)
    return Place.of(*found) if found else None


def place_in(context: Context) -> Place | None:
    """The place where the page of this request begins."""
    return place_of(context.request.query_params.get(AFTER, ""))


def rest_of(context: Context, section: str, next: Place | None) -> dict[str, Any]:
    """The URLs of the first page and of the next, with the same filters; None on the first page and on the last."""
    kept = [(name, value) for name, value in context.request.query_params.multi_items() if name != AFTER and value]
    first = context.path(section) + (f"?{urlencode(kept)}" if kept else "")
    begun = AFTER in context.request.query_params
    onward = None if next is None else f"{context.path(section)}?{urlencode([*kept, (AFTER, place_text(next))])}"
    return {"first_url": first if begun else None, "next_url": onward}


def _moment(text: object, info: ValidationInfo) -> object:
    """A browser's date field sends no time zone; the label beside it names the page's."""
    if not isinstance(text, str):
        return text
    try:
        moment = datetime.fromisoformat(text)
    except ValueError:
        raise ValueError("This is not a date and time, such as 2026-11-14T18:30.") from None
    zone = ZoneInfo((info.context or {}).get("zone", "UTC"))
    return (moment if moment.tzinfo else moment.replace(tzinfo=zone)).astimezone(UTC)


def _sane(moment: datetime) -> datetime:
    if not 2000 <= moment.year <= 9000:
        raise ValueError("This is too far away.")
    return moment


Moment = Annotated[datetime, BeforeValidator(_moment), AfterValidator(_sane)]


def filters_in(context: Context, kind: type[M]) -> tuple[Form, M | None]:
    """The filters in the URL: as a form, and as a model if they are valid."""
    query = context.request.query_params
    form = Form({name: query.getlist(name) for name in kind.model_fields})
    return form, form.read(kind, zone=context.zone)
