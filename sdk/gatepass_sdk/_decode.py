"""From JSON to models. A reader is compiled once for each model from its annotations.

Known fields are typed, a missing field is an error, and fields that this version does not know stay in `raw`.
"""

import types
from collections.abc import Callable, Mapping
from dataclasses import MISSING, dataclass, field, fields
from datetime import datetime
from decimal import Decimal
from typing import Any, TypeVar, Union, cast, get_args, get_origin, get_type_hints

M = TypeVar("M", bound="Model")
Read = Callable[[Any], Any]


class Unreadable(ValueError):
    """An answer that does not match its model."""


@dataclass(frozen=True, kw_only=True)
class Model:
    """An answer of the service. `raw` is the whole JSON object, with fields that this version does not know."""

    raw: Mapping[str, Any] = field(default_factory=dict[str, Any], repr=False, compare=False)


@dataclass(frozen=True, kw_only=True)
class Versioned(Model):
    """An object that can be changed. `etag` names its version, for `if_match`; in a list it is None."""

    etag: str | None = field(default=None, repr=False, compare=False)


def read(model: type[M], value: object) -> M:
    """The model of this JSON object."""
    if not isinstance(value, dict):
        raise Unreadable(f"{model.__name__} should be an object")
    found = cast("dict[str, Any]", value)
    known: dict[str, Any] = {}
    for name, needed, reader in _readers(model):
        if name in found:
            known[name] = reader(found[name])
        elif needed:
            raise Unreadable(f"{model.__name__} lacks {name}")
    return model(raw=found, **known)


COMPILED: dict[type[Model], tuple[tuple[str, bool, Read], ...]] = {}


def _readers(model: type[Model]) -> tuple[tuple[str, bool, Read], ...]:
    """For each field: its name, whether it is required, and its reader."""
    if model not in COMPILED:
        COMPILED[model] = _compiled(model)
    return COMPILED[model]


def _compiled(model: type[Model]) -> tuple[tuple[str, bool, Read], ...]:
    hints = get_type_hints(model)
    return tuple(
        (each.name, each.default is MISSING and each.default_factory is MISSING, _reader(hints[each.name]))
        for each in fields(model)
        if each.name != "raw"
    )


def _reader(hint: Any) -> Read:
    origin = get_origin(hint)
    if origin in (types.UnionType, Union):
        (inner,) = (one for one in get_args(hint) if one is not types.NoneType)
        return _optional(_reader(inner))
    if origin is tuple:
        return _many(_reader(get_args(hint)[0]))
    if isinstance(hint, type) and issubclass(hint, Model):
        return lambda value: read(hint, value)
    return READERS[origin or hint]


def _optional(reader: Read) -> Read:
    return lambda value: None if value is None else reader(value)


def _many(reader: Read) -> Read:
    def read_all(value: Any) -> tuple[Any, ...]:
        if not isinstance(value, list):
            raise Unreadable("a list was expected")
        return tuple(reader(one) for one in value)

    return read_all


def _exactly(kind: type) -> Read:
    def check(value: Any) -> Any:
        if type(value) is not kind:
            raise Unreadable(f"{kind.__name__} was expected")
        return value

    return check


def _moment(value: Any) -> datetime:
    if not isinstance(value, str):
        raise Unreadable("a time was expected")
    try:
        return datetime.fromisoformat(value)
    except ValueError as error:
        raise Unreadable("a time was expected") from error


def _amount(value: Any) -> Decimal:
    """The exact amount: the shortest decimal for this number, as it was in the JSON."""
    if type(value) not in (int, float):
        raise Unreadable("a number was expected")
    return Decimal(str(value))


def _number(value: Any) -> float:
    if type(value) not in (int, float):
        raise Unreadable("a number was expected")
    return float(value)


READERS: dict[Any, Read] = {
    str: _exactly(str),
    int: _exactly(int),
    bool: _exactly(bool),
    float: _number,
    Decimal: _amount,
    datetime: _moment,
    Mapping: _exactly(dict),
}
