"""A call before it is sent, and an answer before it is decoded. Neither uses the network."""

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, Final, Generic, TypeVar, cast

from gatepass_sdk._decode import Model, Unreadable, Versioned, read

T = TypeVar("T")
M = TypeVar("M", bound=Model)
V = TypeVar("V", bound=Versioned)


@dataclass(frozen=True, slots=True)
class Call(Generic[T]):
    """`repeatable` is False if a second try could act twice: then it is retried only if nothing was sent."""

    method: str
    path: str
    read: "Callable[[Answer], T]"
    query: Mapping[str, str] = field(default_factory=dict[str, str])
    body: Mapping[str, Any] | None = None
    idempotency_key: str | None = None
    if_match: str | None = None
    if_none_match: str | None = None
    repeatable: bool = True
    is_scan: bool = False


@dataclass(frozen=True)
class Answer:
    status: int
    headers: Mapping[str, str]
    content: bytes

    @property
    def request_id(self) -> str | None:
        return self.headers.get("x-request-id")

    @property
    def was_replayed(self) -> bool:
        return self.headers.get("idempotent-replayed") == "true"

    @cached_property
    def value(self) -> dict[str, Any]:
        """The JSON object in the body; empty if there is none."""
        try:
            value = json.loads(self.content)
        except (ValueError, RecursionError):
            return {}
        return cast("dict[str, Any]", value) if isinstance(value, dict) else {}

    @property
    def is_from_service(self) -> bool:
        """Whether the service sent this. A captive portal answers 200 too, and a proxy has its own 404."""
        if self.status in (NO_CONTENT, NOT_MODIFIED):
            return self.request_id is not None
        if self.headers.get("content-type") == MANIFEST_TYPE:
            return self.status < 300
        return bool(self.value) if self.status < 300 else isinstance(self.value.get("code"), str)

    @property
    def is_refusal(self) -> bool:
        return self.status >= 300 and self.status != NOT_MODIFIED


NO_CONTENT: Final = 204
# To a call that names what it has already.
NOT_MODIFIED: Final = 304
MANIFEST_TYPE: Final = "application/vnd.gatepass.manifest"


def data_as(model: type[M]) -> Callable[[Answer], M]:
    """A reader of the answer's `data` as this model."""

    def read_data(answer: Answer) -> M:
        return read(model, answer.value.get("data"))

    return read_data


def versioned_as(model: type[V]) -> Callable[[Answer], V]:
    """A reader of the answer's `data` as this model, with the ETag of the answer."""

    def read_data(answer: Answer) -> V:
        return replace(read(model, answer.value.get("data")), etag=answer.headers.get("etag"))

    return read_data


def list_as(model: type[M]) -> Callable[[Answer], tuple[M, ...]]:
    """A reader of the answer's `data` as a list of this model."""

    def read_data(answer: Answer) -> tuple[M, ...]:
        items = answer.value.get("data")
        if not isinstance(items, list):
            raise Unreadable("a list was expected")
        return tuple(read(model, item) for item in cast("list[object]", items))

    return read_data


def whole_as(model: type[M]) -> Callable[[Answer], M]:
    """A reader of the whole answer as this model."""
    return lambda answer: read(model, answer.value)


def nothing(answer: Answer) -> None:
    if answer.status != NO_CONTENT:
        raise Unreadable("nothing was expected")
