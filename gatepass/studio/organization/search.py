"""Search: paste an id, a card number or a name, and go to its page. Several hits are a list.

domain/search.py finds; PAGES says where the page of each kind is and which permission it needs.
"""

from typing import Annotated, Final
from uuid import UUID

from fastapi import APIRouter
from starlette.responses import RedirectResponse, Response

from gatepass.base.ids import REQUEST_PREFIX, strict_uuid
from gatepass.domain import search
from gatepass.domain.keys import Mode
from gatepass.domain.search import SearchKind, SearchResult
from gatepass.domain.staff import Permission
from gatepass.studio.web.auth import may
from gatepass.studio.web.context import Context

LONGEST: Final = 200

# The page of each kind, and the permission that it needs.
PAGES: Final[dict[SearchKind, tuple[str, Permission]]] = {
    SearchKind.EVENT: ("events/{id}", Permission.EVENTS_READ),
    SearchKind.CARD: ("cards/{id}", Permission.TICKETS_READ),
    SearchKind.KEY: ("keys/{id}", Permission.KEYS_READ),
    SearchKind.ENDPOINT: ("webhooks/{id}", Permission.WEBHOOKS_READ),
    SearchKind.DELIVERY: ("webhooks/{parent_id}/deliveries/{id}", Permission.WEBHOOKS_READ),
    SearchKind.PERSON: ("team/{id}", Permission.TEAM_READ),
}

router = APIRouter(prefix="/find")


@router.get("")
async def find(context: Annotated[Context, may(None)], q: str = "") -> Response:
    wanted = q.strip().replace("\x00", "")[:LONGEST]
    if wanted.startswith(REQUEST_PREFIX) and context.may(Permission.REQUESTS_READ):
        return RedirectResponse(context.path(f"requests/{_segment(wanted)}"), 303)
    found = await _found(context, wanted)
    if len(found) == 1:
        return RedirectResponse(found[0][1], 303)
    return context.page("search/results.html", wanted=wanted, found=found)


async def _found(context: Context, wanted: str) -> list[tuple[SearchResult, str]]:
    """Hits with their URLs, of the kinds that the person may see."""
    id = strict_uuid(wanted) or _bare(wanted)
    async with context.db.autocommit() as tx:
        if id is not None:
            found = await search.by_id(tx, context.organization_id, id)
        else:
            found = await search.by_text(tx, context.organization_id, wanted, sight=context.sight)
    return [(one, _address(context, one)) for one in found if context.may(PAGES[one.kind][1])]


def _address(context: Context, found: SearchResult) -> str:
    """Keys and endpoints belong to a mode; everything else is live."""
    path = PAGES[found.kind][0].format(id=found.id, parent_id=found.parent_id)
    return f"{context.root(found.mode or Mode.LIVE)}/{path}"


def _bare(text: str) -> UUID | None:
    """An id in another form: with a prefix such as `evt_`, or without dashes."""
    digits = text.rpartition("_")[2]
    return UUID(digits) if len(digits) == 32 and all(one in "0123456789abcdef" for one in digits.lower()) else None


def _segment(text: str) -> str:
    return "".join(letter for letter in text if letter.isalnum() or letter == "_")[:64]
