"""Reading a body strictly: every way of being wrong is an InvalidRequest that names its field."""

import re
from collections.abc import Iterator
from datetime import datetime
from typing import Final, TypeVar

import msgspec

from gatepass.base.refusals import InvalidRequest
from gatepass.base.text import is_storable

T = TypeVar("T", bound=msgspec.Struct)

FIELD: Final = re.compile(r"`\$\.(\w+)|required field `(\w+)`")
RFC3339: Final = re.compile(r"\d{4}-\d{2}-\d{2}[Tt]\d{2}:\d{2}:\d{2}(\.\d{1,9})?([Zz]|[+-]\d{2}:\d{2})", re.ASCII)


def decoded(raw: bytes, decoder: msgspec.json.Decoder[T]) -> T:
    """The body as it must be, and nothing in it that cannot be stored."""
    try:
        body = decoder.decode(raw)
    except msgspec.ValidationError as error:
        raise _explained(str(error)) from None
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        raise InvalidRequest("The body is not JSON.") from None
    # An escape is the only way in for a character that cannot be stored.
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


def _explained(error: str) -> InvalidRequest:
    found = FIELD.search(error)
    name = (found[1] or found[2]) if found else None
    what = error.partition(" - at ")[0]
    return InvalidRequest(f"{name}: {what}." if name else f"The body is not valid: {what}.", param=name)
