"""For developers: what each type of message looks like, and a place to try a signature. Nothing here is kept."""

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
from gatepass.domain.webhooks.verifying import Verifying, read_headers, verify
from gatepass.studio.entrance import may
from gatepass.studio.form import Form
from gatepass.studio.visit import Visit

router = APIRouter(prefix="/webhooks")

Reading = Annotated[Visit, may(Permission.WEBHOOKS_READ)]

# Everybody knows it: it signs the example.
EXAMPLE_SECRET: Final = "whsec_C2FVsBQIhrscChlQIMV+b5sSYspob7oDazNlbXBsZSE="  # noqa: S105
FORMATS: Final[dict[str, str]] = {"uuid": "UUID", "date-time": "time"}
LARGEST: Final = 256 * 1024


class Pasted(BaseModel):
    """Not stripped: a blank too many is one of the things that go wrong."""

    secret: Annotated[str, StringConstraints(min_length=1, max_length=200)]
    headers: Annotated[str, StringConstraints(min_length=1, max_length=16_000)]
    body: Annotated[str, StringConstraints(max_length=64_000)] = ""


@router.get("/types")
async def types(visit: Reading) -> Response:
    kinds = [(kind, _written(example_of(kind)), _written(schema_of(kind))) for kind in MESSAGES]
    return visit.page("webhooks/types.html", kinds=kinds, spoken=_spoken)


@router.get("/playground")
async def playground(visit: Reading, example: str = "") -> Response:
    form = _example(visit, MESSAGES[0]) if example else Form.of()
    return visit.page("webhooks/playground.html", form=form, found=None, shows_secret=bool(example))


@router.post("/playground")
async def try_it(visit: Reading) -> Response:
    form = await visit.form(most=LARGEST)
    pasted = form.read(Pasted)
    found: list[Verifying] | None = None
    if pasted is not None:
        # A browser writes every line break of a form as two characters.
        body = pasted.body.replace("\r\n", "\n").encode(errors="replace")
        secret = pasted.secret.encode(errors="replace").decode()
        found = verify(secret, read_headers(pasted.headers), body, at=visit.at)
    is_example = form.value("secret") == EXAMPLE_SECRET
    return visit.page(
        "webhooks/playground.html",
        form=form,
        found=found,
        shows_secret=is_example,
        status=200 if found is not None else 422,
    )


def _example(visit: Visit, kind: MessageKind) -> Form:
    """A message that is genuine for the next five minutes."""
    body = json.dumps(example_of(kind), separators=(",", ":")).encode()
    id = UUID(AN_ID)
    headers = signature.headers(
        Secrets(EXAMPLE_SECRET), body, event_id=id, type=kind.type, delivery_id=id, attempt=1, replayed=False,
        at=visit.at,
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
