"""Requests: the call while it is answered, the raw request, and the strict parsing of its body."""

import re
import time
from collections.abc import Iterator
from datetime import datetime
from typing import Final, TypeVar
from urllib.parse import parse_qsl
from uuid import UUID

import msgspec
from starlette.requests import ClientDisconnect
from starlette.types import Receive, Scope

from gatepass.api.responses import RequestTooLarge
from gatepass.base.errors import InvalidRequest, NotNow, Refusal
from gatepass.base.ids import new_id, request_text
from gatepass.base.text import is_storable
from gatepass.domain import request_log
from gatepass.domain.keys import Address, Caller
from gatepass.domain.limits import Standing

T = TypeVar("T", bound=msgspec.Struct)

UNKNOWN_PATH: Final = "(unknown)"
# 33 minutes. The column of the request log is an integer, and the statement of a scan adds its own time.
LONGEST_US: Final = 2_000_000_000
LARGEST_BODY: Final = 16 * 1024
LONGEST_IDEMPOTENCY_KEY: Final = 255

FIELD: Final = re.compile(r"`\$\.(\w+)|required field `(\w+)`")
RFC3339: Final = re.compile(r"\d{4}-\d{2}-\d{2}[Tt]\d{2}:\d{2}:\d{2}(\.\d{1,9})?([Zz]|[+-]\d{2}:\d{2})", re.ASCII)


class ApiCall(msgspec.Struct):
    """A call while it is answered. Authentication and the endpoint fill it in; the middleware logs it."""

    at: datetime
    method: str
    address: Address | None
    id: UUID = msgspec.field(default_factory=new_id)
    began: float = msgspec.field(default_factory=time.perf_counter)
    path: str = UNKNOWN_PATH
    caller: Caller | None = None
    standing: Standing | None = None
    event_id: UUID | None = None
    status: int = 0
    code: str | None = None
    cause: str | None = None
    logged: bool = False
    unconfirmed: bool = False

    @property
    def request_id(self) -> str:
        return request_text(self.id)

    def elapsed_us(self) -> int:
        return min(int((time.perf_counter() - self.began) * 1_000_000), LONGEST_US)

    def is_change(self) -> bool:
        """Whether the call may change something; its row in the request log is then written before the reply."""
        return self.method not in ("GET", "HEAD", "OPTIONS")

    def refuse(self, refusal: Refusal) -> None:
        """Note why the call is refused."""
        self.code = refusal.code
        self.cause = refusal.cause if isinstance(refusal, NotNow) else None

    def log_row(self, caller: Caller) -> request_log.CallRecord:
        return request_log.CallRecord(
            organization_id=caller.organization_id,
            at=self.at,
            id=self.id,
            mode=caller.mode,
            key_id=caller.key_id,
            method=self.method,
            path=self.path,
            status=self.status,
            code=self.code,
            address=self.address,
            duration_us=self.elapsed_us(),
            event_id=self.event_id,
        )


class RawRequest:
    """Headers, query and body of a request, each read when it is needed; the fast path builds nothing in advance."""

    __slots__ = ("_receive", "_scope")

    def __init__(self, scope: Scope, receive: Receive) -> None:
        self._scope = scope
        self._receive = receive

    def header(self, name: bytes) -> str | None:
        """The first header of this name."""
        for found, value in self._scope["headers"]:
            if found == name:
                return value.decode("latin-1")
        return None

    def idempotency_key(self) -> str | None:
        key = self.header(b"idempotency-key")
        if key is not None and not 1 <= len(key) <= LONGEST_IDEMPOTENCY_KEY:
            raise InvalidRequest("Idempotency-Key has 1 to 255 characters.", param="Idempotency-Key")
        return key

    def path(self) -> str:
        """The path as it was called, with the ids in it."""
        return self._scope["path"]

    def parameter(self, name: str) -> str | None:
        """The last query parameter of this name, as FastAPI takes it."""
        if not self._scope["query_string"]:
            return None
        value = None
        for found, text in parse_qsl(self._scope["query_string"].decode("latin-1"), keep_blank_values=True):
            if found == name:
                value = text
        return value

    async def body(self, largest: int = LARGEST_BODY) -> bytes:
        """The body. One that is larger than the limit is refused, and not read to its end."""
        message = await self._receive()
        parts, size = [], 0
        while True:
            if message["type"] == "http.disconnect":
                raise ClientDisconnect
            part = message.get("body", b"")
            size += len(part)
            if size > largest:
                raise RequestTooLarge(f"The request body is larger than {largest // 1024:,} KiB.")
            parts.append(part)
            if not message.get("more_body", False):
                return parts[0] if len(parts) == 1 else b"".join(parts)
            message = await self._receive()


def decoded(raw: bytes, decoder: msgspec.json.Decoder[T]) -> T:
    """The body, if it has the right fields and types, and no characters that PostgreSQL cannot store."""
    try:
        body = decoder.decode(raw)
    except msgspec.ValidationError as error:
        raise _explained(str(error)) from None
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        raise InvalidRequest("The body is not JSON.") from None
    # Only an escape can bring in such a character: the decoder refuses it otherwise.
    if b"\\u" in raw:
        for name in body.__struct_fields__:
            if not all(map(is_storable, _texts(getattr(body, name)))):
                raise InvalidRequest(f"{name} holds characters that cannot be stored.", param=name)
    return body


def moment(text: str, name: str) -> datetime:
    """The time that a field holds."""
    try:
        if not RFC3339.fullmatch(text):
            raise ValueError
        return datetime.fromisoformat(text.upper())
    except ValueError:
        raise InvalidRequest(f"{name} is not an RFC 3339 time with an offset.", param=name) from None


def _texts(value: object) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, list):
        for part in value:
            yield from _texts(part)
    elif isinstance(value, msgspec.Struct):
        for name in value.__struct_fields__:
            yield from _texts(getattr(value, name))


def _explained(error: str) -> InvalidRequest:
    found = FIELD.search(error)
    name = (found[1] or found[2]) if found else None
    what = error.partition(" - at ")[0]
    return InvalidRequest(f"{name}: {what}." if name else f"The body is not valid: {what}.", param=name)
