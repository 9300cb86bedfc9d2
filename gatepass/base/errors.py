"""A refusal is a name, a sentence and a code. What HTTP makes of it stands at the door.

The docstring is the sentence that people read; the code is frozen API.
"""

from typing import Any, ClassVar


class Refusal(Exception):  # noqa: N818  a refusal is an answer, not an error
    code: ClassVar[str]

    def __init__(self, sentence: str | None = None, *, param: str | None = None, **details: Any) -> None:
        super().__init__(sentence or self.sentence())
        self.param = param
        self.details = details
        self.retry_after: int | None = None

    @classmethod
    def sentence(cls) -> str:
        return (cls.__doc__ or "").strip().splitlines()[0]


class InvalidRequest(Refusal):
    """The request is not valid."""

    code = "invalid_request"


class Unavailable(Refusal):
    """The call could not be finished in time and its outcome is unknown. Try again with the same Idempotency-Key."""

    code = "unavailable"


class Busy(Unavailable):
    """What this call needs is held by another one. Try again with the same Idempotency-Key."""


class Overloaded(Refusal):
    """Too many calls are waiting. Try again in a moment."""

    code = "overloaded"


class NotAllowedFromHere(Refusal):
    """This cannot be done in the present state."""

    code = "not_allowed"
