"""Forms: the typed text, the model that it is read as, and the errors.

A refused form is shown again with everything that was typed, and each error beside its field.
"""

from collections.abc import Mapping, Sequence
from typing import Annotated, Any, Final, TypeVar

from pydantic import AfterValidator, BaseModel, StringConstraints, ValidationError
from starlette.datastructures import FormData, UploadFile
from starlette.requests import Request
from starlette.types import Message

from gatepass.base.errors import InvalidRequest, Refusal
from gatepass.base.text import is_line, is_storable

M = TypeVar("M", bound=BaseModel)

LARGEST_FORM: Final = 64 * 1024
MOST_FIELDS: Final = 200
# A Content-Type with its boundary. 64 KiB of semicolons would hold the event loop for 100 ms.
LONGEST_TYPE: Final = 512


class FormTooLarge(Refusal):
    """What you sent is larger than this page takes."""

    code = "request_too_large"


def _storable(text: str) -> str:
    if not is_storable(text):
        raise ValueError("This text has characters that cannot be stored.")
    return text


def _shown(text: str) -> str:
    if not is_line(text):
        raise ValueError("This has a character that cannot be shown.")
    return text


Line = Annotated[str, StringConstraints(strip_whitespace=True, min_length=1, max_length=200), AfterValidator(_storable)]
ShortLine = Annotated[
    str, StringConstraints(strip_whitespace=True, min_length=1, max_length=100), AfterValidator(_storable)
]
OptionalLine = Annotated[str, StringConstraints(strip_whitespace=True, max_length=200), AfterValidator(_storable)]
LongText = Annotated[str, StringConstraints(strip_whitespace=True, max_length=10_000), AfterValidator(_storable)]


class Reason(BaseModel):
    """The form of every action that asks why."""

    reason: Annotated[Line, AfterValidator(_shown)]


class Form:
    """Fields by name. `errors` is by field; an error of the whole form is under ""."""

    def __init__(self, fields: Mapping[str, Sequence[str]], files: Mapping[str, UploadFile] | None = None) -> None:
        self._fields = fields
        self.files = files or {}
        self.errors: dict[str, str] = {}

    @classmethod
    def of(cls, **values: Any) -> "Form":
        """A form with values: a list is a field that occurs several times."""
        return cls({name: _as_texts(value) for name, value in values.items()})

    def value(self, name: str) -> str:
        """What was typed into this field: as in `read`, the first that is not blank."""
        return next((text for text in self._fields.get(name, ()) if text.strip()), "")

    def values(self, name: str) -> Sequence[str]:
        return self._fields.get(name, ())

    def seen_versions(self) -> list[str] | None:
        """The version that the form was filled from; None for a page that was loaded before forms had one."""
        return [self.value("version")] if self.value("version") else None

    def changed_meanwhile(self) -> None:
        """Say so above the form, which keeps what was typed and gets the present version."""
        self.errors[""] = (
            "Somebody else changed this since you opened the page. Nothing is saved yet. "
            "Look at how it is now; saving again replaces it by what you have typed."
        )

    def error(self, name: str) -> str | None:
        return self.errors.get(name)

    def read(self, kind: type[M], *, zone: str = "UTC") -> M | None:
        """The form as this model. None if it is invalid; `errors` says why. Empty fields count as absent.

        Times without an offset are in `zone`.
        """
        given: dict[str, Any] = {}
        for name, field in kind.model_fields.items():
            texts = [text for text in self._fields.get(name, ()) if text.strip()]
            if texts:
                given[name] = texts if _takes_many(field.annotation) else texts[0]
        try:
            return kind.model_validate(given, context={"zone": zone})
        except ValidationError as invalid:
            for error in invalid.errors():
                name = str(error["loc"][0]) if error["loc"] else ""
                self.errors.setdefault(name, _spoken(error["type"], error["msg"], error.get("ctx", {})))
            return None

    def refuse(self, refusal: InvalidRequest) -> None:
        """Put a refusal of the domain beside the field that it names."""
        self.errors[refusal.param or ""] = str(refusal)


async def received(request: Request, *, most: int = LARGEST_FORM) -> Form:
    """The form of this request; FormTooLarge above `most` bytes."""
    if int(request.headers.get("content-length", "0") or "0") > most:
        raise FormTooLarge
    if len(request.headers.get("content-type", "")) > LONGEST_TYPE:
        raise FormTooLarge
    data = await Request(request.scope, _bounded(request, most)).form(max_files=1, max_fields=MOST_FIELDS)
    return _sorted(data)


def _bounded(request: Request, most: int) -> Any:
    seen = 0

    async def receive() -> Message:
        nonlocal seen
        message = await request.receive()
        seen += len(message.get("body", b""))
        if seen > most:
            raise FormTooLarge
        return message

    return receive


def _sorted(data: FormData) -> Form:
    fields: dict[str, list[str]] = {}
    files: dict[str, UploadFile] = {}
    for name, value in data.multi_items():
        if isinstance(value, UploadFile):
            files[name] = value
        else:
            fields.setdefault(name, []).append(value)
    return Form(fields, files)


def _as_texts(value: Any) -> list[str]:
    if value is None:
        return []
    return [str(one) for one in value] if isinstance(value, list | tuple | set | frozenset) else [str(value)]


def _takes_many(annotation: Any) -> bool:
    return getattr(annotation, "__origin__", None) in (list, set, frozenset, tuple)


SENTENCES: Final = {
    "missing": "This is needed.",
    "string_too_short": "This is needed.",
    "string_too_long": "This is longer than {max_length} characters.",
    "too_long": "This is longer than {max_length} characters.",
    "int_parsing": "This is not a whole number.",
    "decimal_parsing": "This is not a number.",
    "greater_than_equal": "This is less than {ge}.",
    "less_than_equal": "This is more than {le}.",
    "enum": "Choose one of these.",
}


def _spoken(kind: str, message: str, context: Mapping[str, Any]) -> str:
    if kind in SENTENCES:
        return SENTENCES[kind].format(**context)
    return str(context["error"]) if kind == "value_error" and "error" in context else message + "."
