"""Who may enter the studio: a required second factor, and the networks. For owners, confirmed."""

from typing import Annotated

from fastapi import APIRouter
from pydantic import AfterValidator, BaseModel
from starlette.responses import Response

from gatepass.domain.staff import Permission, access
from gatepass.domain.staff.access import AddressNotAllowed, SecondFactorRequired
from gatepass.studio.web.auth import may
from gatepass.studio.web.context import UNPROCESSABLE, Context
from gatepass.studio.web.forms import Form, LongText
from gatepass.studio.web.networks import MOST_NETWORKS, networks_in

router = APIRouter(prefix="/settings/access")

ConfirmedOwner = Annotated[Context, may(Permission.ACCESS_WRITE, confirmed=True)]


def _readable(text: str) -> str:
    networks_in(text)
    return text


class SecondFactorForm(BaseModel):
    required: bool = False


class NetworksForm(BaseModel):
    networks: Annotated[LongText, AfterValidator(_readable)] = ""


@router.get("")
async def shown(context: ConfirmedOwner) -> Response:
    return _page(context)


@router.post("/second-factor")
async def require_second_factor(context: ConfirmedOwner) -> Response:
    form = await context.form()
    wanted = form.read(SecondFactorForm)
    if wanted is not None:
        try:
            async with context.transaction() as tx:
                await access.require_second_factor(tx, context.session, required=wanted.required, at=context.at)
        except SecondFactorRequired as refusal:
            form.errors["required"] = str(refusal)
        else:
            flash = "From now on everybody needs a second factor." if wanted.required else "A password is enough again."
            return context.go("settings/access", flash)
    return _page(context, form)


@router.post("/networks")
async def choose_networks(context: ConfirmedOwner) -> Response:
    form = await context.form()
    wanted = form.read(NetworksForm)
    if wanted is not None:
        try:
            async with context.transaction() as tx:
                await access.choose_networks(tx, context.session, networks_in(wanted.networks), at=context.at)
        except AddressNotAllowed as refusal:
            form.errors["networks"] = str(refusal)
        else:
            flash = (
                "Only these networks reach the studio now." if wanted.networks else "Every address is allowed again."
            )
            return context.go("settings/access", flash)
    return _page(context, form)


def _page(context: Context, refused: Form | None = None) -> Response:
    session = context.session
    stored = Form.of(
        required="true" if session.requires_second_factor else None,
        networks="\n".join(map(str, session.studio_networks or ())),
    )
    form = refused or stored
    return context.page(
        "settings/access.html", status=UNPROCESSABLE if refused else 200, form=form,
        networks_form=form if "networks" in form.errors else stored, most=MOST_NETWORKS,
    )  # fmt: skip
