"""Settings of the organization: its name, its cards, the keys that sign them, and what is kept for how long."""

from base64 import urlsafe_b64encode
from typing import Annotated, Any, Final
from uuid import UUID

from fastapi import APIRouter
from pydantic import AfterValidator, BaseModel
from starlette.responses import Response

from gatepass.base.database import Tx
from gatepass.domain import cards, organizations, upkeep
from gatepass.domain.cards import SigningKeyShown
from gatepass.domain.keys import RATES
from gatepass.domain.staff import Permission
from gatepass.studio.entrance import PageNotFound, may
from gatepass.studio.form import Form, Line
from gatepass.studio.visit import UNPROCESSABLE, Visit

router = APIRouter(prefix="/settings")

Reading = Annotated[Visit, may(Permission.SETTINGS_READ)]
Changing = Annotated[Visit, may(Permission.SETTINGS_WRITE)]
# Retiring a signing key can shut out everybody whose card it has signed.
Signing = Annotated[Visit, may(Permission.SETTINGS_WRITE, confirmed=True)]

HISTORIES: Final = {
    "scan": "Scans: what each gate was answered",
    "audit": "Request log",
    "change": "Audit of changes",
    "webhook_event": "Webhook messages",
    "webhook_delivery": "Webhook deliveries",
    "webhook_attempt": "Attempts to deliver",
}


def _prefix(text: str) -> str:
    # Only ASCII has one upper case: elsewhere `ß` becomes `SS`.
    if not (text.isascii() and text.isalpha() and 2 <= len(text) <= 6):
        raise ValueError("A prefix is 2 to 6 letters from A to Z.")
    return text.upper()


class Organization(BaseModel):
    name: Line
    card_prefix: Annotated[Line, AfterValidator(_prefix)]


class Retiring(BaseModel):
    reason: Line


@router.get("")
async def shown(visit: Reading) -> Response:
    return await _page(visit)


@router.post("/organization")
async def change_organization(visit: Changing) -> Response:
    form = await visit.form()
    wanted = form.read(Organization)
    if wanted is None:
        return await _page(visit, form)
    async with visit.transaction() as tx:
        await organizations.rename(tx, visit.organization_id, wanted.name, by=visit.by, at=visit.at)
        await organizations.choose_card_prefix(tx, visit.organization_id, wanted.card_prefix, by=visit.by, at=visit.at)
    return visit.go("settings", "The settings are saved.")


@router.get("/signing-keys/new")
async def ask_to_rotate(visit: Signing) -> Response:
    async with visit.db.reading() as tx:
        keys = await cards.verifying_keys(tx, visit.organization_id)
    return visit.page("settings/rotate.html", count=len(keys))


@router.post("/signing-keys")
async def rotate(visit: Signing) -> Response:
    async with visit.transaction() as tx:
        await cards.rotate(tx, visit.organization_id, visit.vault, by=visit.by, at=visit.at)
    return visit.go("settings", "A new key signs from now on. Cards that are out go on working.")


@router.get("/signing-keys/{signing_key_id}/retire")
async def ask_to_retire(visit: Signing, signing_key_id: UUID) -> Response:
    return await _question(visit, signing_key_id, Form.of())


@router.post("/signing-keys/{signing_key_id}/retire")
async def retire(visit: Signing, signing_key_id: UUID) -> Response:
    form = await visit.form()
    wanted = form.read(Retiring)
    if wanted is None:
        return await _question(visit, signing_key_id, form)
    async with visit.transaction() as tx:
        await _in_use(tx, visit, signing_key_id)
        await cards.retire(tx, visit.organization_id, signing_key_id, by=visit.by, at=visit.at, reason=wanted.reason)
    return visit.go("settings", "The signing key is retired. What it has signed is refused from the next call on.")


async def _page(visit: Visit, form: Form | None = None) -> Response:
    async with visit.db.reading() as tx:
        organization = await organizations.find(tx, visit.organization_id)
        signing_keys = await cards.signing_keys_of(tx, visit.organization_id)
        retentions = await upkeep.retentions(tx)
    if organization is None:
        raise PageNotFound
    form, status = (Form.of(name=organization.name, card_prefix=organization.card_prefix), 200) if form is None else (
        form, UNPROCESSABLE
    )  # fmt: skip
    facts: dict[str, Any] = {
        "organization": organization,
        "signing_keys": signing_keys,
        "signs": next((key.id for key in signing_keys if key.retired_at is None), None),
        "verifying": sum(key.retired_at is None for key in signing_keys),
        "written": written,
        "kept": [(HISTORIES.get(one.name, one.name), one.keep.days) for one in retentions],
        "rates": RATES,
    }
    return visit.page("settings/settings.html", status=status, form=form, **facts)


async def _question(visit: Visit, key_id: UUID, form: Form) -> Response:
    async with visit.db.reading() as tx:
        key, others = await _in_use(tx, visit, key_id)
    facts = {"key": key, "signs": all(key.created_at >= other.created_at for other in others), "last": not others}
    status = UNPROCESSABLE if form.errors else 200
    return visit.page("settings/retire.html", status=status, form=form, written=written, **facts)


async def _in_use(tx: Tx, visit: Visit, key_id: UUID) -> tuple[SigningKeyShown, list[SigningKeyShown]]:
    """The key, and the others that are not retired."""
    found = [key for key in await cards.signing_keys_of(tx, visit.organization_id) if key.retired_at is None]
    for key in found:
        if key.id == key_id:
            return key, [other for other in found if other is not key]
    raise PageNotFound


def written(public_key: bytes) -> str:
    """A public key as the JWK set writes it."""
    return urlsafe_b64encode(public_key).rstrip(b"=").decode()
