"""A phone enrols for a card, renews its certificate, takes over from another phone, and ends.

Each request proves with a signature that the phone has the key that it names. What a link alone may do is said in
`domain/cards/phones.py`.
"""

from base64 import urlsafe_b64decode, urlsafe_b64encode
from collections.abc import Awaitable
from contextlib import suppress
from typing import Annotated, Final, TypeVar

import msgspec
from fastapi import APIRouter
from starlette.requests import Request
from starlette.responses import JSONResponse, Response

from gatepass.base.errors import InvalidRequest, Refusal
from gatepass.base.language import language_of
from gatepass.card_page.visit import Visit, Visitor
from gatepass.domain import organizations
from gatepass.domain.cards import IssuedCertificate, PhoneProof, mailed_codes, phones
from gatepass.domain.mail import AddressNotSendable, LetterKind

# The longest body has two signatures and a key.
LARGEST_BODY: Final = 2_048
KEY: Final = 32
SIGNATURE: Final = 64

router = APIRouter()

T = TypeVar("T")
Key = Annotated[str, msgspec.Meta(pattern="^[A-Za-z0-9_-]{43}$")]
Signature = Annotated[str, msgspec.Meta(pattern="^[A-Za-z0-9_-]{86}$")]
# Up to the last second that has ten digits.
Second = Annotated[int, msgspec.Meta(ge=0, lt=10**10)]


class MailNotSent(Refusal):
    """This service sends no mail. Ask the organizer."""

    code = "mail_not_sent"


class Enrolment(msgspec.Struct, frozen=True):
    public_key: Key
    proof: Signature
    at: Second


class Move(Enrolment, frozen=True):
    old_signature: Signature | None = None
    code: Annotated[str, msgspec.Meta(min_length=1, max_length=32)] | None = None


class End(msgspec.Struct, frozen=True):
    proof: Signature
    at: Second


@router.api_route("/{token}/phone", methods=["POST"])
async def enrol(visit: Visitor) -> Response:
    """Enrol this phone, if none is enrolled."""
    key = _proven(visit, await _body(visit.request, ENROLMENT))
    async with visit.db.transaction(visit.address) as tx:
        card = (tx, visit.link.organization_id, visit.link.card_id)
        return await _certificate(phones.enrol(*card, key, visit.pages.vault, at=visit.pages.clock()))


@router.api_route("/{token}/phone/certificate", methods=["POST"])
async def renew(visit: Visitor) -> Response:
    """Another certificate for the phone that is enrolled."""
    key = _proven(visit, await _body(visit.request, ENROLMENT))
    async with visit.db.transaction(visit.address) as tx:
        card = (tx, visit.link.organization_id, visit.link.card_id)
        return await _certificate(phones.renew(*card, key, visit.pages.vault, at=visit.pages.clock()))


@router.api_route("/{token}/phone/move", methods=["POST"])
async def move(visit: Visitor) -> Response:
    """Let this phone take over, with the signature of the enrolled phone or with a code from a mail."""
    body = await _body(visit.request, MOVE)
    key, at, vault = _proven(visit, body), visit.pages.clock(), visit.pages.vault
    if (body.old_signature is None) == (body.code is None):
        raise InvalidRequest("Send either old_signature or code.", param="code")
    async with visit.db.transaction(visit.address) as tx:
        card = (tx, visit.link.organization_id, visit.link.card_id)
        if body.code is not None:
            return await _certificate(phones.move_by_code(*card, key, body.code, vault, at=at))
        signature = _decoded(body.old_signature or "", SIGNATURE)
        return await _certificate(phones.move(*card, key, signature, vault, at=at))


@router.api_route("/{token}/phone/end", methods=["POST"])
async def end(visit: Visitor) -> Response:
    """The phone that is enrolled gives the card up."""
    body, at = await _body(visit.request, END), visit.pages.clock()
    async with visit.db.transaction(visit.address) as tx:
        card = (tx, visit.link.organization_id, visit.link.card_id)
        phone = await phones.find_phone(*card)
        if phone is None:
            raise phones.PhoneNotEnrolled
        PhoneProof(phone.public_key, _decoded(body.proof, SIGNATURE), body.at).require(visit.token, at=at)
        await phones.end(*card, by=phones.HOLDER, at=at, public_key=phone.public_key)
    return JSONResponse({})


@router.api_route("/{token}/phone/mail-code", methods=["POST"])
async def mail_code(visit: Visitor) -> Response:
    """Mail a code to the holder. The answer is the same whether there is an address or not."""
    mailer, at, organization_id = visit.pages.mailer, visit.pages.clock(), visit.link.organization_id
    if not mailer.enabled:
        raise MailNotSent
    async with visit.db.transaction(visit.address) as tx:
        mail = await mailed_codes.prepare(tx, organization_id, visit.link.card_id, at=at)
        organizer = await organizations.find(tx, organization_id)
        if mail is not None and organizer is not None:
            language = language_of(mail.locale, visit.request.headers.get("accept-language"))
            with suppress(AddressNotSendable):
                await mailer.write(
                    tx, LetterKind.PHONE_CODE, to=mail.email, organization_id=organization_id, language=language,
                    card_id=visit.link.card_id, values={"organizer": organizer.name, "code": mail.code}, at=at,
                )  # fmt: skip
    return JSONResponse({})


@router.api_route("/{token}/short-token", methods=["POST"])
async def short_token(visit: Visitor) -> Response:
    """A token of a minute, for a phone that cannot sign; only while no phone is enrolled."""
    async with visit.db.transaction(visit.address) as tx:
        token, expires_at = await phones.short_token(
            tx, visit.link.organization_id, visit.link.card_id, visit.pages.vault, at=visit.pages.clock()
        )
    return JSONResponse({"token": token, "expires_at": expires_at})


def _proven(visit: Visit, body: Enrolment) -> bytes:
    """The public key of the phone that sent this body."""
    proof = PhoneProof(_decoded(body.public_key, KEY), _decoded(body.proof, SIGNATURE), body.at)
    proof.require(visit.token, at=visit.pages.clock())
    return proof.public_key


async def _certificate(issued: Awaitable[IssuedCertificate]) -> Response:
    done = await issued
    answer = {"certificate": done.certificate, "enrolment": done.enrolment, "expires_at": done.expires_at}
    return JSONResponse(answer)


async def _body(request: Request, decoder: msgspec.json.Decoder[T]) -> T:
    raw = bytearray()
    async for chunk in request.stream():
        raw += chunk
        if len(raw) > LARGEST_BODY:
            raise InvalidRequest("The body is too large.")
    try:
        return decoder.decode(raw)
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError):
        raise InvalidRequest("The body is not what this path takes.") from None


def _decoded(text: str, length: int) -> bytes:
    """Base64url in its one spelling."""
    raw = urlsafe_b64decode(text + "=" * (-len(text) % 4))
    if len(raw) != length or urlsafe_b64encode(raw).rstrip(b"=").decode() != text:
        raise InvalidRequest("This is not base64url in its one spelling.")
    return raw


ENROLMENT: Final = msgspec.json.Decoder(Enrolment)
MOVE: Final = msgspec.json.Decoder(Move)
END: Final = msgspec.json.Decoder(End)
