"""`gatepass-cli cards`: cards and their holders."""

from typing import Annotated

import typer

from gatepass_sdk.cli.arguments import (
    DEFAULT_LIMIT,
    LARGEST_PAGE,
    ExternalId,
    Most,
    Reason,
    Yes,
    first_of,
    moment,
    require_yes,
)
from gatepass_sdk.cli.context import Context, with_context
from gatepass_sdk.cli.errors import CommandError
from gatepass_sdk.cli.output import note
from gatepass_sdk.cli.platform.holders import Email, Locale, Name, holder_of
from gatepass_sdk.models import Card

cards = typer.Typer(
    help="Cards: register, find, correct, suspend and replace them.", no_args_is_help=True, rich_markup_mode=None
)
Id = Annotated[str, typer.Argument(metavar="ID", help="The card's id.")]
Number = Annotated[str | None, typer.Option("--number", help="The card's number.")]


@cards.command("list")
@with_context
def list_cards(
    context: Context,
    *,
    number: Number = None,
    email: Email = None,
    external_id: ExternalId = None,
    most: Most = DEFAULT_LIMIT,
) -> None:
    """The card with this number, those of this person, or the newest."""
    size = min(most, LARGEST_PAGE)
    pages = context.client.cards.list(number=number, email=email, external_id=external_id, limit=size)
    found = first_of(pages, most)
    if context.out.as_json:
        for one in found:
            context.out.data(one.raw)
        return
    rows = [(one.id, one.number, one.status, _holder(one), one.external_id) for one in found]
    context.out.table(("id", "number", "status", "holder", "external id"), rows, "There is no such card.")


@cards.command("show")
@with_context
def show_card(context: Context, *, id: Id) -> None:
    """One card with its holder."""
    _show(context, context.client.cards.retrieve(id))


@cards.command("create")
@with_context
def create(
    context: Context,
    *,
    name: Name = None,
    email: Email = None,
    locale: Locale = None,
    number: Number = None,
    external_id: ExternalId = None,
) -> None:
    """Register a card: a new one, or the one that this person has."""
    holder = holder_of(name, email, locale)
    _show(context, context.client.cards.create(holder=holder, number=number, external_id=external_id))


@cards.command("update")
@with_context
def update(
    context: Context,
    *,
    id: Id,
    name: Name = None,
    email: Email = None,
    locale: Locale = None,
    erase: Annotated[bool, typer.Option("--erase-holder", help="Forget who holds it.")] = False,
) -> None:
    """Correct the holder, or erase them."""
    holder = holder_of(name, email, locale)
    if (holder is None) != erase:
        raise CommandError("Say what to change: --name, --email or --locale; or --erase-holder.")
    _show(context, context.client.cards.update(id, holder=holder))


@cards.command("suspend")
@with_context
def suspend(context: Context, *, id: Id, reason: Reason) -> None:
    """Gates refuse the card until it is resumed."""
    _show(context, context.client.cards.suspend(id, reason=reason))


@cards.command("resume")
@with_context
def resume(context: Context, *, id: Id, reason: Reason) -> None:
    """Gates take the card again."""
    _show(context, context.client.cards.resume(id, reason=reason))


@cards.command("revoke")
@with_context
def revoke(context: Context, *, id: Id, reason: Reason, yes: Yes = False) -> None:
    """Gates refuse the card, for good."""
    require_yes(f"Revoke {context.client.cards.retrieve(id).number}, for good?", yes=yes)
    _show(context, context.client.cards.revoke(id, reason=reason))


@cards.command("replace")
@with_context
def replace(context: Context, *, id: Id, reason: Reason, yes: Yes = False) -> None:
    """A new card takes over; the old one is revoked."""
    require_yes(f"Revoke {context.client.cards.retrieve(id).number}, for good, and make a new card?", yes=yes)
    _show(context, context.client.cards.replace(id, reason=reason))


@cards.command("token")
@with_context
def token(
    context: Context,
    *,
    id: Id,
    until: Annotated[
        str | None, typer.Option("--until", metavar="TIME", help="Until when; 24 hours if nothing is said.")
    ] = None,
) -> None:
    """A token for this card, which an app shows as a code."""
    signed = context.client.card_tokens.create(id, expires_at=moment(until, "--until"))
    if context.out.as_json:
        context.out.data(signed.raw)
        return
    context.out.line(signed.token)
    note(f"Good until {signed.expires_at:%Y-%m-%d %H:%M:%S}Z. Whoever has it gets in: do not put it into a log.")


def _show(context: Context, card: Card) -> None:
    if context.out.as_json:
        context.out.data(card.raw)
        return
    known: dict[str, object] = {"id": card.id, "number": card.number, "status": card.status, "holder": _holder(card)}
    known |= {"locale": card.holder.locale} if card.holder and card.holder.locale else {}
    known |= {"external id": card.external_id} if card.external_id else {}
    context.out.fields(known | {"issued": card.issued_at, "updated": card.updated_at})


def _holder(card: Card) -> str | None:
    if card.holder is None:
        return None
    address = f" <{card.holder.email}>" if card.holder.email and card.holder.email != card.holder.name else ""
    return f"{card.holder.name}{address}{' (companion)' if card.holder.companion else ''}"
