"""For developers: examples and schemas of the message types, and a form to verify a signature. Nothing is stored."""

import json
from typing import Annotated, Any, Final
from uuid import UUID

from fastapi import APIRouter
from pydantic import BaseModel, StringConstraints
from starlette.responses import Response

from gatepass.domain.message_catalogue import AN_ID, MESSAGES, MessageKind, example_of, schema_of
from gatepass.domain.staff import Permission
from gatepass.domain.webhooks import signature
from gatepass.domain.webhooks.signature import Secrets
from gatepass.domain.webhooks.verification import SignatureCheck, read_headers, verify
from gatepass.studio.web.auth import may
from gatepass.studio.web.context import Context
from gatepass.studio.web.forms import Form

router = APIRouter(prefix="/webhooks")

Reader = Annotated[Context, may(Permission.WEBHOOKS_READ)]

# Public: it signs the example.
EXAMPLE_SECRET: Final = "whsec_C2FVsBQIhrscChlQIMV+b5sSYspob7oDazNlbXBsZSE="  # noqa: S105
FORMATS: Final[dict[str, str]] = {"uuid": "UUID", "date-time": "time"}
LARGEST: Final = 256 * 1024


class PastedMessage(BaseModel):
    """Not stripped: a space too many is one of the possible errors."""

    secret: Annotated[str, StringConstraints(min_length=1, max_length=200)]
    headers: Annotated[str, StringConstraints(min_length=1, max_length=16_000)]
    body: Annotated[str, StringConstraints(max_length=64_000)] = ""


@router.get("/types")
async def types(context: Reader) -> Response:
    kinds = [(kind, _written(example_of(kind)), _written(schema_of(kind))) for kind in MESSAGES]
    return context.page("webhooks/types.html", kinds=kinds, spoken=_spoken)


@router.get("/playground")
async def playground(context: Reader, example: str = "") -> Response:
    form = _example(context, MESSAGES[0]) if example else Form.of()
    return context.page("webhooks/playground.html", form=form, found=None, shows_secret=bool(example))


@router.post("/playground")
async def try_it(context: Reader) -> Response:
    form = await context.form(most=LARGEST)
    pasted = form.read(PastedMessage)
    found: list[SignatureCheck] | None = None
    if pasted is not None:
        # A browser sends every line break of a form as CR LF.
        body = pasted.body.replace("\r\n", "\n").encode(errors="replace")
        secret = pasted.secret.encode(errors="replace").decode()
        found = verify(secret, read_headers(pasted.headers), body, at=context.at)
    is_example = form.value("secret") == EXAMPLE_SECRET
    return context.page(
        "webhooks/playground.html",
        form=form,
        found=found,
        shows_secret=is_example,
        status=200 if found is not None else 422,
    )


def _example(context: Context, kind: MessageKind) -> Form:
    """A message whose signature is valid for the next five minutes."""
    body = json.dumps(example_of(kind), separators=(",", ":")).encode()
    id = UUID(AN_ID)
    headers = signature.headers(
        Secrets(EXAMPLE_SECRET), body, event_id=id, type=kind.type, delivery_id=id, attempt=1, replayed=False,
        at=context.at,
    )  # fmt: skip
    lines = "\n".join(f"{name}: {value}" for name, value in headers.items())
    return Form.of(secret=EXAMPLE_SECRET, headers=lines, body=body.decode())


def _written(value: dict[str, Any]) -> str:
    return json.dumps(value, indent=2, ensure_ascii=False)


def _spoken(schema: dict[str, Any]) -> str:
    """The type of a field in a few words."""
    kind: str | list[str] = schema["type"]
    base = kind if isinstance(kind, str) else kind[0]
    words = FORMATS.get(schema.get("format", ""), base)
    return words if isinstance(kind, str) else f"{words} or null"
