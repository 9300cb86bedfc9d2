"""The body reader: as strict as the service's, with the same sentences."""

import json
import math
import re
from collections.abc import Mapping
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

    def check(self, value: Any) -> None:
        if not isinstance(value, str):
            _expect("str", value, nullable=self.nullable)
            return
        _measure("str", len(value), self.shortest, self.longest)
        if self.among and value not in self.among:
            raise ValueError(f"Invalid enum value {value!r}")


@dataclass(frozen=True)
class Texts:
    each: Text
    longest: int
    nullable: bool = False
    needed: bool = False

    def check(self, value: Any) -> None:
        if not isinstance(value, list) or isinstance(value, _Pairs):
            _expect("array", value, nullable=self.nullable)
            return
        for one in value:
            self.each.check(one)
        _measure("array", len(value), 1, self.longest)


@dataclass(frozen=True)
class Flag:
    needed: bool = False

    def check(self, value: Any) -> None:
        if not isinstance(value, bool):
            _expect("bool", value, nullable=False)


Fields = Mapping[str, Text | Texts | Flag]


class _Pairs(list[tuple[str, Any]]):
    """A JSON object, its members in their order."""


def read_body(raw: bytes, fields: Fields) -> dict[str, Any]:
    """The known fields of the body. Raises for the first that is wrong."""
    if len(raw) > LARGEST:
        raise Refused("request_too_large")
    pairs, rest = _parsed(raw)
    found: dict[str, Any] = {}
    for name, value in pairs:
        if name in fields:
            try:
                fields[name].check(value)
            except ValueError as error:
                raise invalid(f"{name}: {error}.", name) from None
            found[name] = value
    for name, field in fields.items():
        if field.needed and name not in found:
            raise invalid(f"{name}: Object missing required field `{name}`.", name)
    if rest.strip(BLANKS):
        raise _no_json()
    for name in fields:
        value = found.get(name)
        if any(isinstance(text, str) and "\x00" in text for text in (value if isinstance(value, list) else [value])):
            raise invalid(f"{name} holds characters that cannot be stored.", name)
    return found


def read_moment(text: str, name: str) -> datetime:
    try:
        if not RFC3339.fullmatch(text):
            raise ValueError
        return datetime.fromisoformat(text.upper())
    except ValueError:
        raise invalid(f"{name} is not an RFC 3339 time with an offset.", name) from None


def read_uuid(text: str) -> UUID | None:
    return UUID(text) if CANONICAL.fullmatch(text) else None


def _parsed(raw: bytes) -> tuple[_Pairs, str]:
    """The object, and the text after it. The service checks fields as it reads, so that text is checked last."""
    try:
        text = raw.decode().lstrip(BLANKS)
        value, end = DECODER.raw_decode(text) if text[:1] != "[" else ([], 0)
        # Fails for half a surrogate pair.
        json.dumps(value, ensure_ascii=False).encode()
    except (ValueError, RecursionError):
        raise _no_json() from None
    if not isinstance(value, _Pairs):
        raise invalid(f"The body is not valid: Expected `object`, got `{_kind(value)}`.")
    return value, text[end:]


def _no_json() -> Refused:
    return invalid("The body is not JSON.")


def _no_constant(name: str) -> Any:
    raise ValueError(name)


def _expect(kind: str, value: Any, *, nullable: bool) -> None:
    if not (nullable and value is None):
        wanted = f"{kind} | null" if nullable else kind
        raise ValueError(f"Expected `{wanted}`, got `{_kind(value)}`")


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
    names = {_Pairs: "object", list: "array", str: "str", bool: "bool", float: "float", type(None): "null"}
    return names[type(value)]


BLANKS: Final = " \t\r\n"
DECODER: Final = json.JSONDecoder(object_pairs_hook=_Pairs, parse_constant=_no_constant)
