"""The body reader: as strict as the service's, with the same sentences."""

import json
import math
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final
from uuid import UUID

from gatepass_sdk.testing._http import Refused, invalid

LARGEST: Final = 16 * 1024
RFC3339: Final = re.compile(r"\d{4}-\d{2}-\d{2}[Tt]\d{2}:\d{2}:\d{2}(\.\d{1,9})?([Zz]|[+-]\d{2}:\d{2})", re.ASCII)
CANONICAL: Final = re.compile("[0-9a-fA-F]{8}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{12}")


@dataclass(frozen=True)
class Text:
    longest: int | None = None
    shortest: int = 0
    nullable: bool = False
    needed: bool = False
    among: tuple[str, ...] = ()
    pattern: str | None = None

    def read(self, value: Any) -> Any:
        if not isinstance(value, str):
            return _expect("str", value, nullable=self.nullable)
        _measure("str", len(value), self.shortest, self.longest)
        if self.pattern is not None and not re.search(self.pattern, value):
            raise ValueError(f"Expected `str` matching regex {self.pattern!r}")
        if self.among and value not in self.among:
            raise ValueError(f"Invalid enum value {value!r}")
        return value


@dataclass(frozen=True)
class Texts:
    each: Text
    longest: int
    nullable: bool = False
    needed: bool = False
    shortest: int = 1

    def read(self, value: Any) -> Any:
        if not isinstance(value, list) or isinstance(value, Pairs):
            return _expect("array", value, nullable=self.nullable)
        for one in value:
            self.each.read(one)
        _measure("array", len(value), self.shortest, self.longest)
        return value


@dataclass(frozen=True)
class Flag:
    needed: bool = False

    def read(self, value: Any) -> Any:
        return value if isinstance(value, bool) else _expect("bool", value, nullable=False)


@dataclass(frozen=True)
class Number:
    """A number from 0 to `largest`."""

    largest: int
    needed: bool = False

    def read(self, value: Any) -> Any:
        kind = type(value).__name__
        if kind not in ("int", "float"):
            return _expect("int | float", value, nullable=False)
        if math.isinf(value):
            raise ValueError("Number out of range")
        if value < 0:
            raise ValueError(f"Expected `{kind}` >= {type(value)(0)}")
        if value > self.largest:
            raise ValueError(f"Expected `{kind}` <= {type(value)(self.largest)}")
        return value


@dataclass(frozen=True)
class Nested:
    """An object in the body. An error in it names the field of the body."""

    fields: Mapping[str, Text]
    needed: bool = False

    def read(self, value: Any) -> Any:
        if not isinstance(value, Pairs):
            return _expect("object", value, nullable=True)
        return {name: self.fields[name].read(one) for name, one in value if name in self.fields}


@dataclass(frozen=True)
class Items:
    """The items of a batch, each of which is read by itself."""

    longest: int
    needed: bool = True

    def read(self, value: Any) -> Any:
        if not isinstance(value, list) or isinstance(value, Pairs):
            return _expect("array", value, nullable=False)
        _measure("array", len(value), 1, self.longest)
        return value


Fields = Mapping[str, Text | Texts | Flag | Number | Nested | Items]


class Pairs(list[tuple[str, Any]]):
    """A JSON object, its members in their order."""


def read_body(raw: bytes, fields: Fields, largest: int = LARGEST) -> dict[str, Any]:
    """The known fields of the body. Raises for the first that is wrong."""
    if len(raw) > largest:
        raise Refused("request_too_large", f"The request body is larger than {largest // 1024:,} KiB.")
    value, rest = _parsed(raw)
    return read_object(value, fields, rest)


def read_object(value: Any, fields: Fields, rest: str = "") -> dict[str, Any]:
    """The known fields of an object. `rest` is the text after it."""
    if not isinstance(value, Pairs):
        raise invalid(f"The body is not valid: Expected `object`, got `{_kind(value)}`.")
    found: dict[str, Any] = {}
    for name, one in value:
        if name in fields:
            try:
                found[name] = fields[name].read(one)
            except ValueError as error:
                raise invalid(f"{name}: {error}.", name) from None
    for name, field in fields.items():
        if field.needed and name not in found:
            raise invalid(f"{name}: Object missing required field `{name}`.", name)
    if rest.strip(BLANKS):
        raise _no_json()
    for name in fields:
        if not all("\x00" not in text for text in _texts(found.get(name))):
            raise invalid(f"{name} holds characters that cannot be stored.", name)
    return found


def _texts(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif not isinstance(value, Pairs) and isinstance(value, list | dict):
        for one in value.values() if isinstance(value, dict) else value:
            yield from _texts(one)


def read_moment(text: str, name: str) -> datetime:
    try:
        if not RFC3339.fullmatch(text):
            raise ValueError
        return datetime.fromisoformat(text.upper())
    except ValueError:
        raise invalid(f"{name} is not an RFC 3339 time with an offset.", name) from None


def read_uuid(text: str) -> UUID | None:
    return UUID(text) if CANONICAL.fullmatch(text) else None


def _parsed(raw: bytes) -> tuple[Any, str]:
    """The object, and the text after it. The service checks fields as it reads, so that text is checked last."""
    try:
        text = raw.decode().lstrip(BLANKS)
        value, end = DECODER.raw_decode(text) if text[:1] != "[" else ([], 0)
        # Fails for half a surrogate pair.
        json.dumps(value, ensure_ascii=False).encode()
    except (ValueError, RecursionError):
        raise _no_json() from None
    return value, text[end:]


def _no_json() -> Refused:
    return invalid("The body is not JSON.")


def _no_constant(name: str) -> Any:
    raise ValueError(name)


def _expect(kind: str, value: Any, *, nullable: bool) -> Any:
    if not (nullable and value is None):
        wanted = f"{kind} | null" if nullable else kind
        raise ValueError(f"Expected `{wanted}`, got `{_kind(value)}`")
    return value


def _measure(kind: str, size: int, shortest: int, longest: int | None) -> None:
    if size < shortest:
        raise ValueError(f"Expected `{kind}` of length >= {shortest}")
    if longest is not None and size > longest:
        raise ValueError(f"Expected `{kind}` of length <= {longest}")


def _kind(value: Any) -> str:
    if isinstance(value, float) and math.isinf(value):
        raise ValueError("Number out of range")
    if isinstance(value, int) and not isinstance(value, bool):
        return "int" if -(2**63) <= value < 2**64 else "float"
    names = {Pairs: "object", list: "array", str: "str", bool: "bool", float: "float", type(None): "null"}
    return names[type(value)]


BLANKS: Final = " \t\r\n"
DECODER: Final = json.JSONDecoder(object_pairs_hook=Pairs, parse_constant=_no_constant)
