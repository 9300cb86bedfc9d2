"""The team: who is in it and with which role, and who is invited."""

from typing import Annotated, Final
from uuid import UUID

from fastapi import APIRouter
from pydantic import BaseModel, StringConstraints
from starlette.responses import Response

from gatepass.base.paging import END, START, Place
from gatepass.base.refusals import InvalidRequest
from gatepass.domain.staff import RANK, NotPermitted, Permission, Role, invitations, team
from gatepass.domain.staff.invitations import AlreadyMember, TooManyInvitations
from gatepass.domain.staff.team import LastOwner
from gatepass.studio.entrance import may
from gatepass.studio.form import Form, Line
from gatepass.studio.places import place_of, place_text
from gatepass.studio.visit import Visit

router = APIRouter(prefix="/team")

PAGE: Final = 50
ROLES: Final = {
    Role.OWNER: "Everything, and making other owners",
    Role.ADMIN: "Everything except making or removing owners",
    Role.DEVELOPER: "API keys, request log and webhooks; sees the rest",
    Role.GATE_LEAD: "Runs the door: tickets, cards and their holders",
    Role.VIEWER: "Sees events, tickets and the live door",
}

Seen = Annotated[Visit, may(Permission.TEAM_READ)]
Changed = Annotated[Visit, may(Permission.TEAM_WRITE, confirmed=True)]


class Invitee(BaseModel):
    email: Annotated[Line, StringConstraints(max_length=320)]
    role: Role


class NewRole(BaseModel):
    role: Role


@router.get("")
async def listing(visit: Seen, after: str = "") -> Response:
    return await _show(visit, after=place_of(after) or START)


@router.get("/invitations")
async def invitations_listing(visit: Annotated[Visit, may(Permission.TEAM_WRITE)], before: str = "") -> Response:
    async with visit.db.reading() as tx:
        found = await invitations.open_invitations(
            tx, visit.organization_id, before=place_of(before) or END, limit=PAGE + 1, at=visit.at
        )
    shown = found[:PAGE]
    following = place_text(Place(shown[-1].invited_at, shown[-1].id)) if len(found) > PAGE else None
    return visit.page("team/invitations.html", invitations=shown, following=following, RANK=RANK)


@router.get("/invite")
async def invite_form(visit: Annotated[Visit, may(Permission.TEAM_WRITE)]) -> Response:
    return _ask(visit, Form.of(role=Role.VIEWER))


@router.post("/invite")
async def invite(visit: Changed) -> Response:
    form = await visit.form()
    wanted = form.read(Invitee)
    if wanted is None:
        return _ask(visit, form, 422)
    try:
        async with visit.transaction() as tx:
            made = await invitations.invite(
                tx, visit.organization_id, wanted.email, wanted.role, giver=visit.role, by=visit.by, at=visit.at
            )
    except (InvalidRequest, AlreadyMember, NotPermitted, TooManyInvitations) as refusal:
        form.errors[refusal.param or ""] = str(refusal)
        return _ask(visit, form, 422)
    link = f"{visit.studio.party.origin}/studio/welcome/{made.token}"
    return visit.page("team/invited.html", link=link, invitee=wanted, ends_at=visit.at + invitations.VALID_FOR)


@router.post("/invitations/{invitation_id}/revoke")
async def revoke(invitation_id: UUID, visit: Annotated[Visit, may(Permission.TEAM_WRITE)]) -> Response:
    async with visit.transaction() as tx:
        await invitations.revoke_invitation(
            tx, visit.organization_id, invitation_id, giver=visit.role, by=visit.by, at=visit.at
        )
    return visit.go("team/invitations", "The invitation is revoked. Its link no longer works.")


@router.get("/{person_id}")
async def member(person_id: UUID, visit: Seen) -> Response:
    return await _show_member(visit, person_id)


@router.post("/{person_id}/role")
async def change_role(person_id: UUID, visit: Changed) -> Response:
    form = await visit.form()
    wanted = form.read(NewRole)
    if wanted is None:
        return await _show_member(visit, person_id, form)
    try:
        async with visit.transaction() as tx:
            await team.change_role(
                tx, visit.organization_id, person_id, wanted.role, giver=visit.role, by=visit.by, at=visit.at
            )
    except (LastOwner, NotPermitted) as refusal:
        form.errors["role"] = str(refusal)
        return await _show_member(visit, person_id, form)
    return visit.go(f"team/{person_id}", "The role is changed. It holds from the next click on.")


@router.post("/{person_id}/remove")
async def remove(person_id: UUID, visit: Changed) -> Response:
    try:
        async with visit.transaction() as tx:
            await team.remove_member(tx, visit.organization_id, person_id, giver=visit.role, by=visit.by, at=visit.at)
    except (LastOwner, NotPermitted) as refusal:
        form = Form.of()
        form.errors[""] = str(refusal)
        return await _show_member(visit, person_id, form)
    return visit.go("team", "Removed from the team, with their very next click.")


async def _show(visit: Visit, *, after: Place) -> Response:
    async with visit.db.reading() as tx:
        found = await team.members(tx, visit.organization_id, after=after, limit=PAGE + 1)
        waiting = await invitations.open_invitations(tx, visit.organization_id, before=END, limit=PAGE, at=visit.at)
    shown = found[:PAGE]
    following = place_text(Place(shown[-1].joined_at, shown[-1].person_id)) if len(found) > PAGE else None
    return visit.page("team/list.html", members=shown, following=following, waiting=len(waiting), most=PAGE)


async def _show_member(visit: Visit, person_id: UUID, form: Form | None = None) -> Response:
    async with visit.db.reading() as tx:
        found = await team.member(tx, visit.organization_id, person_id)
    facts = {
        "member": found,
        "form": form or Form.of(role=found.role),
        "roles": _offered(visit.role),
        "above": RANK[found.role] > RANK[visit.role],
        "does": ROLES[found.role],
        "oneself": person_id == visit.session.person_id,
    }
    return visit.page("team/member.html", status=422 if form else 200, **facts)


def _ask(visit: Visit, form: Form, status: int = 200) -> Response:
    return visit.page("team/invite.html", form=form, roles=_offered(visit.role), does=ROLES, status=status)


def _offered(giver: Role) -> list[tuple[Role, str]]:
    """The roles that one may give, the lowest first."""
    return [(role, role.spoken.capitalize()) for role in reversed(Role) if RANK[role] <= RANK[giver]]
