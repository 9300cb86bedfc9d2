"""Settings of the organization: name, time zone, card prefix, signing keys, the sandbox, retention."""

from base64 import urlsafe_b64encode
from typing import Annotated, Any, Final
from uuid import UUID

from fastapi import APIRouter
from pydantic import AfterValidator, BaseModel
from starlette.responses import Response

from gatepass.base.database import Tx
from gatepass.domain import cards, maintenance, organizations, twin
from gatepass.domain.cards import SigningKeyShown
from gatepass.domain.events import time_zones
from gatepass.domain.keys import RATES
from gatepass.domain.organizations import Organization
from gatepass.domain.staff import Permission
from gatepass.studio.web.auth import may
from gatepass.studio.web.context import UNPROCESSABLE, Context
from gatepass.studio.web.forms import Form, Line, Reason
from gatepass.studio.web.tab import PageNotFound

router = APIRouter(prefix="/settings")

Reader = Annotated[Context, may(Permission.SETTINGS_READ)]
Writer = Annotated[Context, may(Permission.SETTINGS_WRITE)]
# After a signing key is retired, gates refuse every token that it has signed.
ConfirmedWriter = Annotated[Context, may(Permission.SETTINGS_WRITE, confirmed=True)]

HISTORIES: Final = {
    "scan": "Scans: what each gate was answered",
    "request_log": "Request log",
    "audit_log": "Audit log",
    "webhook_event": "Webhook messages",
    "webhook_delivery": "Webhook deliveries",
    "webhook_attempt": "Attempts to deliver",
}


def _prefix(text: str) -> str:
    # ASCII only: the upper case of `ß` is two letters, `SS`.
    if not (text.isascii() and text.isalpha() and 2 <= len(text) <= 6):
        raise ValueError("A prefix is 2 to 6 letters from A to Z.")
    return text.upper()


def _zone(text: str) -> str:
    found = time_zones.found_zone(text)
    if found is None:
        raise ValueError(time_zones.UNKNOWN)
    return found


class OrganizationForm(BaseModel):
    name: Line
    time_zone: Annotated[Line, AfterValidator(_zone)]
    card_prefix: Annotated[Line, AfterValidator(_prefix)]


@router.get("")
async def shown(context: Reader) -> Response:
    return await _page(context)


@router.post("/organization")
async def change_organization(context: Writer) -> Response:
    form = await context.form()
    wanted = form.read(OrganizationForm)
    if wanted is None:
        return await _page(context, form)
    async with context.transaction() as tx:
        await organizations.rename(tx, context.organization_id, wanted.name, by=context.by, at=context.at)
        await organizations.choose_time_zone(
            tx, context.organization_id, wanted.time_zone, by=context.by, at=context.at
        )
        await organizations.choose_card_prefix(
            tx, context.organization_id, wanted.card_prefix, by=context.by, at=context.at
        )
    return context.go("settings", "The settings are saved.")


@router.post("/sandbox/empty")
async def empty_sandbox(context: ConfirmedWriter) -> Response:
    """Maintenance erases what is in the sandbox; until then it takes nothing new."""
    async with context.transaction() as tx:
        found = await twin.empty(tx, context.organization_id, by=context.by, at=context.at)
    return context.go("settings", "The sandbox is being emptied." if found else "The sandbox is empty.")


@router.get("/signing-keys/new")
async def ask_to_rotate(context: ConfirmedWriter) -> Response:
    async with context.db.autocommit() as tx:
        keys = await cards.verifying_keys(tx, context.organization_id)
    return context.page("settings/rotate.html", count=len(keys))


@router.post("/signing-keys")
async def rotate(context: ConfirmedWriter) -> Response:
    async with context.transaction() as tx:
        await cards.rotate(tx, context.organization_id, context.vault, by=context.by, at=context.at)
    return context.go("settings", "A new key signs from now on. Cards that are out go on working.")


@router.get("/signing-keys/{signing_key_id}/retire")
async def ask_to_retire(context: ConfirmedWriter, signing_key_id: UUID) -> Response:
    return await _question(context, signing_key_id, Form.of())


@router.post("/signing-keys/{signing_key_id}/retire")
async def retire(context: ConfirmedWriter, signing_key_id: UUID) -> Response:
    form = await context.form()
    wanted = form.read(Reason)
    if wanted is None:
        return await _question(context, signing_key_id, form)
    async with context.transaction() as tx:
        await _in_use(tx, context, signing_key_id)
        await cards.retire(
            tx, context.organization_id, signing_key_id, by=context.by, at=context.at, reason=wanted.reason
        )
    return context.go("settings", "The signing key is retired. What it has signed is refused from the next call on.")


async def _page(context: Context, form: Form | None = None) -> Response:
    async with context.db.autocommit() as tx:
        organization = await organizations.find(tx, context.organization_id)
        signing_keys = await cards.signing_keys_of(tx, context.organization_id)
        retentions = await maintenance.retentions(tx)
        held = await twin.held(tx, context.organization_id)
    if organization is None:
        raise PageNotFound
    form, status = (_written_form(organization), 200) if form is None else (form, UNPROCESSABLE)
    facts: dict[str, Any] = {
        "organization": organization,
        "signing_keys": signing_keys,
        "signs": next((key.id for key in signing_keys if key.retired_at is None), None),
        "verifying": sum(key.retired_at is None for key in signing_keys),
        "written": written,
        "kept": [(HISTORIES.get(one.name, one.name), one.keep.days) for one in retentions],
        "rates": RATES,
        "time_zones": time_zones.offered_zones(),
        "sandbox": [
            ("Events", held["events"], twin.MOST_EVENTS),
            ("Cards", held["cards"], twin.MOST_CARDS),
            ("Tickets", held["tickets"], twin.MOST_TICKETS),
        ],
    }
    return context.page("settings/settings.html", status=status, form=form, **facts)


def _written_form(organization: Organization) -> Form:
    return Form.of(name=organization.name, time_zone=organization.time_zone, card_prefix=organization.card_prefix)


async def _question(context: Context, key_id: UUID, form: Form) -> Response:
    async with context.db.autocommit() as tx:
        key, others = await _in_use(tx, context, key_id)
    facts = {"key": key, "signs": all(key.created_at >= other.created_at for other in others), "last": not others}
    status = UNPROCESSABLE if form.errors else 200
    return context.page("settings/retire.html", status=status, form=form, written=written, **facts)


async def _in_use(tx: Tx, context: Context, key_id: UUID) -> tuple[SigningKeyShown, list[SigningKeyShown]]:
    """The key, and the others that are not retired."""
    found = [key for key in await cards.signing_keys_of(tx, context.organization_id) if key.retired_at is None]
    for key in found:
        if key.id == key_id:
            return key, [other for other in found if other is not key]
    raise PageNotFound


def written(public_key: bytes) -> str:
    """A public key as the JWK set writes it."""
    return urlsafe_b64encode(public_key).rstrip(b"=").decode()
