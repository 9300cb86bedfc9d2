"""Filters of a list: they stand in the address, so that a list can be sent to a colleague as it is."""

from datetime import UTC, datetime
from typing import Annotated, TypeVar

from pydantic import AfterValidator, BaseModel, BeforeValidator

from gatepass.studio.form import Form
from gatepass.studio.visit import Visit

M = TypeVar("M", bound=BaseModel)


def _utc(text: object) -> object:
    """What a browser's date field sends has no zone; the label beside it says UTC."""
    if not isinstance(text, str):
        return text
    try:
        moment = datetime.fromisoformat(text)
    except ValueError:
        raise ValueError("This is not a date and time, such as 2026-11-14T18:30.") from None
    return moment.replace(tzinfo=UTC) if moment.tzinfo is None else moment.astimezone(UTC)


def _sane(moment: datetime) -> datetime:
    if not 2000 <= moment.year <= 9000:
        raise ValueError("This is too far away.")
    return moment


Moment = Annotated[datetime, BeforeValidator(_utc), AfterValidator(_sane)]


def asked(visit: Visit, kind: type[M]) -> tuple[Form, M | None]:
    """The filters in the address: as they were typed, and as they were meant, if they can be."""
    query = visit.request.query_params
    form = Form({name: query.getlist(name) for name in kind.model_fields})
    return form, form.read(kind)
