"""What a tab of the browser was made for: the organization and the mode in its address.

A person may work in several organizations and has one session, which knows where they work now; another tab may have
changed that. So no handler asks the session for whom a form is: `require_tab` compares it with the address, and with
the page that sent the form, before anything is read or done.
"""

import re
from typing import Final
from uuid import UUID

from starlette.requests import Request

from gatepass.base.database import Database
from gatepass.base.errors import Refusal
from gatepass.base.ids import strict_uuid
from gatepass.domain import staff
from gatepass.domain.keys import Mode
from gatepass.domain.staff import Session
from gatepass.studio.services.templates import ROOT

MODES: Final = "|".join(Mode)
TAB: Final = re.compile(rf"{ROOT}/o/([^/]+)/({MODES})(?:/.*)?")
SAFE: Final = ("GET", "HEAD")


class PageNotFound(Refusal):
    """There is no such page, or not in this organization."""

    code = "not_found"


class MadeElsewhere(Refusal):
    """This page was made for another organization. Nothing was done."""

    code = "made_elsewhere"

    def __init__(self, sentence: str, *, heading: str, page: str, organization: tuple[UUID, str] | None = None) -> None:
        """`page` can be opened instead, after a switch to `organization` if one is named."""
        super().__init__(sentence)
        self.heading = heading
        self.page = page
        self.organization = organization


async def require_tab(request: Request, db: Database, session: Session) -> None:
    """Refuse what was made for another organization than the session's, or for the other mode."""
    if "organization" not in request.path_params:
        return
    organization_id = strict_uuid(request.path_params["organization"])
    if organization_id is None or organization_id != session.organization_id:
        raise await _of_another(request, db, session, organization_id)
    if request.method in SAFE:
        return
    sender, wanted = tab_of(page_of_sender(request) or request.url.path), tab_of(request.url.path)
    if sender != wanted:
        raise _sent_from_another(request)


def page_of_sender(request: Request) -> str | None:
    """The path of the page of the studio that sent this request, if the browser tells it."""
    origin, _, rest = request.headers.get("referer", "").partition("://")
    path = "/" + rest.partition("/")[2].partition("?")[0].partition("#")[0]
    return path if origin and path.startswith(ROOT + "/") else None


def tab_of(path: str) -> tuple[UUID | None, str] | None:
    """The organization and mode in the path of a page, if it has any."""
    found = TAB.fullmatch(path)
    return (strict_uuid(found[1]), found[2]) if found else None


async def _of_another(request: Request, db: Database, session: Session, organization_id: UUID | None) -> Refusal:
    async with db.autocommit() as tx:
        places = {place.organization_id: place.name for place in await staff.memberships(tx, session.person_id)}
    if organization_id is None or organization_id not in places:
        return PageNotFound()
    name, here = places[organization_id], session.organization_name
    undone = "" if request.method in SAFE else " What you sent was not done."
    return MadeElsewhere(
        f"You work in {here} now: another tab has switched to it, or you followed a link.{undone}",
        heading=f"This page is of {name}",
        page=_page_to_open(request),
        organization=(organization_id, name),
    )


def _sent_from_another(request: Request) -> Refusal:
    return MadeElsewhere(
        "The page that sent this form was made for another organization, or for the other one of live and sandbox."
        " What you sent was not done.",
        heading="This form is of another page",
        page=_page_to_open(request),
    )


def _page_to_open(request: Request) -> str:
    """The page itself; for a form the page that sent it, because a form cannot be sent again."""
    path = request.url.path
    if request.method in SAFE:
        return path + (f"?{request.url.query}" if request.url.query else "")
    found = TAB.fullmatch(path)
    sender = page_of_sender(request)
    home = f"{ROOT}/o/{found[1]}/{found[2]}/home" if found else ROOT
    return sender if sender is not None and tab_of(sender) == tab_of(path) else home
