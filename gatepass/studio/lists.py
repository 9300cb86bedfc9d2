"""Lists that are read page by page: where a page begins stands in the address, beside the filters."""

from typing import Any, Final
from urllib.parse import urlencode

from gatepass.base.paging import Place
from gatepass.studio.places import place_of, place_text
from gatepass.studio.visit import Visit

PAGE: Final = 50
AFTER: Final = "after"


def place_in(visit: Visit) -> Place | None:
    """Where the page begins."""
    return place_of(visit.request.query_params.get(AFTER, ""))


def rest_of(visit: Visit, section: str, next: Place | None) -> dict[str, Any]:
    """The addresses of the first page and of the next, with the same filters; None where one is already."""
    kept = [(name, value) for name, value in visit.request.query_params.multi_items() if name != AFTER and value]
    first = visit.path(section) + (f"?{urlencode(kept)}" if kept else "")
    begun = AFTER in visit.request.query_params
    onward = None if next is None else f"{visit.path(section)}?{urlencode([*kept, (AFTER, place_text(next))])}"
    return {"first_url": first if begun else None, "next_url": onward}
