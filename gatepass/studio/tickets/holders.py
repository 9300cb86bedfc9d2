"""The holder of a card: corrected, or found to have two cards, which are merged into one."""

from typing import Annotated, Final
from uuid import UUID

from fastapi import APIRouter
from pydantic import BaseModel
from starlette.responses import Response

from gatepass.base.errors import InvalidRequest, NotAllowedFromHere
from gatepass.domain import cards, tickets
from gatepass.domain.cards import CardStatus, ChangedMeanwhile, HeldCard, HolderDetails, HolderHasCard
from gatepass.domain.staff import Permission
from gatepass.studio.tickets.holder_fields import HolderEmail, HolderName
from gatepass.studio.web.auth import may
from gatepass.studio.web.context import UNPROCESSABLE, Context
from gatepass.studio.web.forms import Form, Line, Reason

router = APIRouter(prefix="/cards/{card_id}")

# Every role that may change cards may see their holders.
Writer = Annotated[Context, may(Permission.TICKETS_WRITE)]
# A merged card lets its holder in with the tickets of another.
ConfirmedWriter = Annotated[Context, may(Permission.TICKETS_WRITE, confirmed=True)]
MOST_OFFERED: Final = 20


class HolderForm(BaseModel):
    name: HolderName = ""
    email: HolderEmail = ""


class MergeForm(Reason):
    number: Line


@router.get("/holder")
async def holder(card_id: UUID, context: Writer) -> Response:
    card = await _card(context, card_id)
    return _holder_page(context, card, Form.of(name=card.name or "", email=card.email or ""), version=card.version)


@router.post("/holder")
async def correct(card_id: UUID, context: Writer) -> Response:
    card = await _card(context, card_id)
    form = await context.form()
    details = _details(form, card)
    if details is None:
        return _holder_page(context, card, form, status=UNPROCESSABLE, version=form.value("version"))
    try:
        async with context.tenant_transaction() as tx:
            await cards.correct_holder(
                tx, context.tenant_id, card_id, details,
                versions=form.seen_versions(), by=context.by, at=context.at,
            )  # fmt: skip
    except ChangedMeanwhile:
        form.changed_meanwhile()
        card = await _card(context, card_id)
        return _holder_page(context, card, form, status=412, version=card.version)
    except HolderHasCard as refusal:
        form.errors["email"] = "This person has another card. Merge the two, or write another address."
        other = str(refusal.details["card_id"])
        return _holder_page(context, card, form, status=UNPROCESSABLE, version=card.version, other=other)
    return context.go(f"cards/{card_id}", "The holder is corrected.")


def _details(form: Form, card: HeldCard) -> HolderDetails | None:
    wanted = form.read(HolderForm)
    if wanted is None:
        return None
    if not (wanted.name or wanted.email):
        form.errors["name"] = "Write a name or an address. To forget a person, erase the holder in the settings."
        return None
    return HolderDetails(wanted.name or None, wanted.email or None, card.locale)


def _holder_page(
    context: Context, card: HeldCard, form: Form, *, version: str, status: int = 200, other: str = ""
) -> Response:
    return context.page("cards/holder.html", status=status, card=card, form=form, version=version, other=other)


@router.get("/merge")
async def ask(card_id: UUID, context: ConfirmedWriter, into: str = "") -> Response:
    card, others = await _duplicates(context, card_id)
    chosen = next((one.number for one in others if str(one.id) == into), None) or (others[0].number if others else "")
    return context.page("cards/merge.html", card=card, others=others, form=Form.of(number=chosen))


@router.post("/merge")
async def merge(card_id: UUID, context: ConfirmedWriter) -> Response:
    card, others = await _duplicates(context, card_id)
    form = await context.form()
    wanted = form.read(MergeForm)
    if wanted is not None:
        try:
            async with context.tenant_transaction() as tx:
                kept = await cards.find_by_number(tx, context.tenant_id, wanted.number)
                if kept is None:
                    raise InvalidRequest("There is no card with this number.", param="number")
                await tickets.merge(
                    tx, context.tenant_id, card_id, kept.id,
                    by=context.by, at=context.at, reason=wanted.reason,
                )  # fmt: skip
        except InvalidRequest as refusal:
            form.refuse(refusal)
        else:
            return context.go(f"cards/{kept.id}", f"This card has the tickets of {card.number}, which is revoked.")
    return context.page("cards/merge.html", status=UNPROCESSABLE, card=card, others=others, form=form)


async def _card(context: Context, card_id: UUID) -> HeldCard:
    async with context.db.autocommit() as tx:
        card = await cards.find(tx, context.tenant_id, card_id)
    if card.status is CardStatus.REVOKED:
        raise NotAllowedFromHere("A card that is revoked is not changed any more.")
    return card


async def _duplicates(context: Context, card_id: UUID) -> tuple[HeldCard, list[HeldCard]]:
    """The card, and the other active cards under its address that are no companions'."""
    card = await _card(context, card_id)
    if not card.email:
        return card, []
    async with context.db.autocommit() as tx:
        found = await cards.find_by_email(tx, context.tenant_id, card.email, after=None, limit=MOST_OFFERED + 1)
    return card, [one for one in found if one.id != card_id and one.status is CardStatus.ACTIVE and not one.companion]
