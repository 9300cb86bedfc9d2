"""The team: who is in it and with which role, and who is invited."""

from typing import Annotated, Final
from uuid import UUID

from fastapi import APIRouter
from pydantic import BaseModel, StringConstraints
from starlette.responses import Response

from gatepass.base.errors import InvalidRequest
from gatepass.base.paging import END, START, Place
from gatepass.domain import belongings
from gatepass.domain.mail import AddressNotSendable
from gatepass.domain.staff import RANK, NotPermitted, Permission, Role, invitations, team
from gatepass.domain.staff.invitations import AlreadyMember, TooManyInvitations
from gatepass.domain.staff.mail import allowance
from gatepass.domain.staff.mail.allowance import TooManyLetters
from gatepass.domain.staff.mail.letters import Invited
from gatepass.domain.staff.person import folded
from gatepass.domain.staff.team import LastOwner
from gatepass.studio.organization.belongings import revoke_chosen, told
from gatepass.studio.web.auth import may
from gatepass.studio.web.context import Context
from gatepass.studio.web.forms import Form, Line
from gatepass.studio.web.paging import place_of, place_text

router = APIRouter(prefix="/team")

PAGE: Final = 50
ROLES: Final = {
    Role.OWNER: "Everything, also making other owners and live admin keys",
    Role.ADMIN: "Everything except changing owners and making live admin keys",
    Role.DEVELOPER: "API keys except live admin ones, request log and webhooks; sees the rest",
    Role.GATE_LEAD: "Runs the door: tickets, cards and their holders",
    Role.VIEWER: "Sees events, tickets and the live page",
}

Reader = Annotated[Context, may(Permission.TEAM_READ)]
ConfirmedWriter = Annotated[Context, may(Permission.TEAM_WRITE, confirmed=True)]


class InvitationForm(BaseModel):
    email: Annotated[Line, StringConstraints(max_length=320)]
    role: Role


class RoleForm(BaseModel):
    role: Role


@router.get("")
async def listing(context: Reader, after: str = "") -> Response:
    return await _show(context, after=place_of(after) or START)


@router.get("/invitations")
async def invitations_listing(context: Annotated[Context, may(Permission.TEAM_WRITE)], before: str = "") -> Response:
    async with context.db.autocommit() as tx:
        found = await invitations.open_invitations(
            tx, context.organization_id, before=place_of(before) or END, limit=PAGE + 1, at=context.at
        )
    shown = found[:PAGE]
    following = place_text(Place(shown[-1].invited_at, shown[-1].id)) if len(found) > PAGE else None
    return context.page("team/invitations.html", invitations=shown, following=following, RANK=RANK)


@router.get("/invite")
async def invite_form(context: ConfirmedWriter) -> Response:
    """Confirmed already here, as the form itself is: whoever is asked in between would have to fill it in again."""
    return _ask(context, Form.of(role=Role.VIEWER))


@router.post("/invite")
async def invite(context: ConfirmedWriter) -> Response:
    form = await context.form()
    wanted = form.read(InvitationForm)
    if wanted is None:
        return _ask(context, form, 422)
    try:
        link = await _invite(context, wanted)
    except (InvalidRequest, AlreadyMember, NotPermitted, TooManyInvitations, TooManyLetters) as refusal:
        await context.note_refused(refusal)
        form.errors[refusal.param or ""] = str(refusal)
        return _ask(context, form, 422)
    except AddressNotSendable as refusal:
        form.errors["email"] = str(refusal)
        return _ask(context, form, 422)
    return context.page("team/invited.html", link=link, invitee=wanted, ends_at=context.at + invitations.VALID_FOR)


async def _invite(context: Context, wanted: InvitationForm) -> str | None:
    """The link to hand over; None if it went by mail. Then nobody else sees it, and it proves the address."""
    studio = context.studio
    async with context.transaction() as tx:
        made = await invitations.invite(
            tx, context.organization_id, wanted.email, wanted.role, giver=context.role, cell=studio.settings.cell,
            by=context.by, at=context.at, mailed=studio.letters.enabled,
        )  # fmt: skip
        if not studio.letters.enabled:
            return f"{studio.party.origin}/studio/welcome/{made.token}"
        await allowance.take_for_invitation(tx, context.organization_id, wanted.email, at=context.at)
        invited = Invited(
            context.organization_id, context.session.organization_name or "", context.session.name,
            folded(wanted.email), wanted.role, context.at + invitations.VALID_FOR,
        )  # fmt: skip
        await studio.letters.invite(tx, invited, made.token, at=context.at)
    return None


@router.post("/invitations/{invitation_id}/revoke")
async def revoke(invitation_id: UUID, context: Annotated[Context, may(Permission.TEAM_WRITE)]) -> Response:
    async with context.transaction() as tx:
        await invitations.revoke_invitation(
            tx, context.organization_id, invitation_id, giver=context.role, by=context.by, at=context.at
        )
    return context.go("team/invitations", "The invitation is revoked. Its link no longer works.")


@router.get("/{person_id}")
async def member(person_id: UUID, context: Reader) -> Response:
    return await _show_member(context, person_id)


@router.post("/{person_id}/role")
async def change_role(person_id: UUID, context: ConfirmedWriter) -> Response:
    form = await context.form()
    wanted = form.read(RoleForm)
    if wanted is None:
        return await _show_member(context, person_id, form)
    try:
        async with context.transaction() as tx:
            withdrawn = await team.change_role(
                tx, context.organization_id, person_id, wanted.role, giver=context.role, by=context.by, at=context.at
            )
    except (LastOwner, NotPermitted) as refusal:
        await context.note_refused(refusal)
        form.errors["role"] = str(refusal)
        return await _show_member(context, person_id, form)
    flash = "The role is changed. It holds from the next click on." + _withdrawn(withdrawn)
    return await _offer_rest(context, person_id, flash, otherwise=f"team/{person_id}")


@router.get("/{person_id}/remove")
async def ask_to_remove(person_id: UUID, context: ConfirmedWriter) -> Response:
    """What the person made stands on the page, to be revoked in the same step."""
    async with context.db.autocommit() as tx:
        found = await team.member(tx, context.organization_id, person_id)
        made = await belongings.made_by(tx, context.organization_id, person_id, at=context.at)
    return context.page(
        "team/remove.html", member=found, belongings=made, oneself=person_id == context.session.person_id
    )


@router.post("/{person_id}/remove")
async def remove(person_id: UUID, context: ConfirmedWriter) -> Response:
    chosen = (await context.form()).values("made")
    try:
        async with context.transaction() as tx:
            revoked = await revoke_chosen(tx, context, person_id, chosen)
            withdrawn = await team.remove_member(
                tx, context.organization_id, person_id, giver=context.role, by=context.by, at=context.at
            )
    except (LastOwner, NotPermitted) as refusal:
        await context.note_refused(refusal)
        form = Form.of()
        form.errors[""] = str(refusal)
        return await _show_member(context, person_id, form)
    flash = " ".join(part for part in ("Removed from the team, and signed out here.", told(revoked)) if part)
    return await _offer_rest(context, person_id, flash + _withdrawn(withdrawn), otherwise="team")


async def _offer_rest(context: Context, person_id: UUID, flash: str, *, otherwise: str) -> Response:
    """To the list of what the person made, if any of it still works: whoever has it is not stopped by this."""
    if person_id != context.session.person_id:
        async with context.db.autocommit() as tx:
            if await belongings.made_by(tx, context.organization_id, person_id, at=context.at):
                return context.go(f"team/{person_id}/made", flash)
    return context.go(otherwise, flash)


def _withdrawn(count: int) -> str:
    if not count:
        return ""
    return (
        " An invitation that they made is withdrawn." if count == 1 else f" {count} of their invitations are withdrawn."
    )


async def _show(context: Context, *, after: Place) -> Response:
    async with context.db.autocommit() as tx:
        found = await team.members(tx, context.organization_id, after=after, limit=PAGE + 1)
        waiting = await invitations.open_invitations(tx, context.organization_id, before=END, limit=PAGE, at=context.at)
    shown = found[:PAGE]
    following = place_text(Place(shown[-1].joined_at, shown[-1].person_id)) if len(found) > PAGE else None
    return context.page("team/list.html", members=shown, following=following, waiting=len(waiting), most=PAGE)


async def _show_member(context: Context, person_id: UUID, form: Form | None = None) -> Response:
    async with context.db.autocommit() as tx:
        found = await team.member(tx, context.organization_id, person_id)
    facts = {
        "member": found,
        "form": form or Form.of(role=found.role),
        "roles": _offered(context.role),
        "above": RANK[found.role] > RANK[context.role],
        "does": ROLES[found.role],
        "oneself": person_id == context.session.person_id,
    }
    return context.page("team/member.html", status=422 if form else 200, **facts)


def _ask(context: Context, form: Form, status: int = 200) -> Response:
    facts = {"form": form, "roles": _offered(context.role), "does": ROLES, "by_mail": context.studio.letters.enabled}
    return context.page("team/invite.html", status=status, **facts)


def _offered(giver: Role) -> list[tuple[Role, str]]:
    """The roles that one may give, the lowest first."""
    return [(role, role.spoken.capitalize()) for role in reversed(Role) if RANK[role] <= RANK[giver]]
