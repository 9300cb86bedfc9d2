"""Finding: paste any id, card number or name, and land on its page.

Every section that has pages of its own says how its things are found. The first that knows an id wins.
"""

from typing import Annotated, Final
from uuid import UUID

from fastapi import APIRouter, Query
from starlette.responses import RedirectResponse, Response

from gatepass.base.ids import REQUEST_PREFIX, strict_uuid
from gatepass.domain import finding
from gatepass.domain.finding import Found, Kind
from gatepass.domain.staff import Permission
from gatepass.studio.entrance import may
from gatepass.studio.visit import Visit

LONGEST: Final = 200

# Where the page of each kind of thing is, and what one needs to see it.
PAGES: Final[dict[Kind, tuple[str, Permission]]] = {
    Kind.EVENT: ("events/{id}", Permission.EVENTS_READ),
    Kind.CARD: ("cards/{id}", Permission.TICKETS_READ),
    Kind.KEY: ("keys/{id}", Permission.KEYS_READ),
    Kind.ENDPOINT: ("webhooks/{id}", Permission.WEBHOOKS_READ),
    Kind.DELIVERY: ("webhooks/{parent_id}/deliveries/{id}", Permission.WEBHOOKS_READ),
    Kind.PERSON: ("team/{id}", Permission.TEAM_READ),
}

router = APIRouter(prefix="/find")


@router.get("")
async def find(visit: Annotated[Visit, may(None)], q: Annotated[str, Query(max_length=LONGEST)] = "") -> Response:
    wanted = q.strip().replace("\x00", "")
    if wanted.startswith(REQUEST_PREFIX) and visit.may(Permission.REQUESTS_READ):
        return RedirectResponse(visit.path(f"requests/{_segment(wanted)}"), 303)
    found = await _found(visit, wanted)
    if len(found) == 1:
        return RedirectResponse(found[0][1], 303)
    return visit.page("find/results.html", wanted=wanted, found=found)


async def _found(visit: Visit, wanted: str) -> list[tuple[Found, str]]:
    """Things with their addresses, of those kinds that the person may see."""
    id = strict_uuid(wanted) or _bare(wanted)
    async with visit.db.reading() as tx:
        if id is not None:
            found = await finding.by_id(tx, visit.organization_id, id)
        else:
            found = await finding.by_text(tx, visit.organization_id, wanted, names=visit.may(Permission.HOLDERS_READ))
    return [(one, _address(one)) for one in found if visit.may(PAGES[one.kind][1])]


def _address(found: Found) -> str:
    """Keys and endpoints live in one of the modes; everything else is live."""
    path = PAGES[found.kind][0].format(id=found.id, parent_id=found.parent_id)
    return f"/studio/{found.mode or 'live'}/{path}"


def _bare(text: str) -> UUID | None:
    """An id as it is written elsewhere: with a prefix such as `evt_`, or without dashes."""
    digits = text.rpartition("_")[2]
    return UUID(digits) if len(digits) == 32 and all(one in "0123456789abcdef" for one in digits.lower()) else None


def _segment(text: str) -> str:
    return "".join(letter for letter in text if letter.isalnum() or letter == "_")[:64]
