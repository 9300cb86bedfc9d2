"""The look of the card page: the holder's name or none, a colour, one line of text, a logo; with a preview."""

from typing import Annotated, Final
from uuid import UUID

from fastapi import APIRouter
from pydantic import BaseModel
from starlette.responses import Response

from gatepass.base.errors import InvalidRequest
from gatepass.domain import card_look
from gatepass.domain.card_look import LONGEST_LINE, CardLook
from gatepass.domain.staff import Permission
from gatepass.studio.web.auth import may
from gatepass.studio.web.context import UNPROCESSABLE, Context
from gatepass.studio.web.forms import Form, FormTooLarge, OptionalLine, ShortLine
from gatepass.studio.web.tab import PageNotFound

router = APIRouter(prefix="/settings/card-page")

Reader = Annotated[Context, may(Permission.SETTINGS_READ)]
Writer = Annotated[Context, may(Permission.SETTINGS_WRITE)]

# The picture, and the rest of the form.
LARGEST_UPLOAD: Final = card_look.LOGO.most_bytes + 64 * 1024
TOO_LARGE: Final = "The picture is larger than 256 kB."
LOGO_HEADERS: Final = {
    "Content-Security-Policy": "default-src 'none'; sandbox",
    "X-Content-Type-Options": "nosniff",
}


class LookForm(BaseModel):
    shows_name: bool = False
    colour: ShortLine
    line: OptionalLine = ""


@router.get("")
async def shown(context: Reader) -> Response:
    return await _page(context)


@router.get("/logo/{logo_id}")
async def logo(context: Reader, logo_id: UUID) -> Response:
    """For the preview. Its bytes were uploaded, so the headers allow a browser nothing but to show them."""
    async with context.db.autocommit() as tx:
        found = await card_look.find_logo(tx, context.organization_id, logo_id)
    if found is None:
        raise PageNotFound
    return Response(found.content, media_type=found.kind.media_type, headers=LOGO_HEADERS)


@router.post("")
async def change(context: Writer) -> Response:
    form = await context.form()
    wanted = form.read(LookForm)
    if wanted is None:
        return await _page(context, form)
    try:
        async with context.transaction() as tx:
            changed = await card_look.change(
                tx, context.organization_id, shows_name=wanted.shows_name, colour=wanted.colour, line=wanted.line,
                by=context.by, at=context.at,
            )  # fmt: skip
    except InvalidRequest as refusal:
        form.refuse(refusal)
        return await _page(context, form)
    return context.go("settings/card-page", "Saved. Open pages follow." if changed else "Nothing was changed.")


@router.post("/logo")
async def set_logo(context: Writer) -> Response:
    """An uploaded picture; without one the logo is taken away."""
    form = Form.of()
    try:
        form = await context.form(most=LARGEST_UPLOAD)
        content = await _content(form)
        async with context.transaction() as tx:
            await card_look.set_logo(tx, context.organization_id, content, by=context.by, at=context.at)
    except FormTooLarge:
        form.errors["logo"] = TOO_LARGE
    except InvalidRequest as refusal:
        form.refuse(refusal)
    else:
        return context.go("settings/card-page", "The logo is set." if content else "There is no logo any more.")
    return await _page(context, errors=form.errors)


async def _content(form: Form) -> bytes | None:
    """The uploaded file, or nothing. Other files are closed unread."""
    content = b""
    for name, file in form.files.items():
        content = await file.read() if name == "logo" else content
        await file.close()
    return content or None


async def _page(context: Context, form: Form | None = None, errors: dict[str, str] | None = None) -> Response:
    async with context.db.autocommit() as tx:
        look = await card_look.find(tx, context.organization_id)
    status = UNPROCESSABLE if form is not None or errors else 200
    form = form or _written_form(look)
    form.errors |= errors or {}
    return context.page(
        "settings/card_page.html", status=status, form=form, look=look, longest=LONGEST_LINE,
        largest=card_look.LOGO.most_bytes,
    )  # fmt: skip


def _written_form(look: CardLook) -> Form:
    return Form.of(shows_name="true" if look.shows_name else None, colour=look.colour, line=look.line or "")
