"""A refusal is a name, a sentence and a code. Its HTTP status is in one table, in api/responses.py.

The docstring is the sentence that people read; the code is frozen API.
"""

from typing import Any, ClassVar, Final


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


# Why the service cannot serve a call. docs/operate/observe.md explains each.
CAUSES: Final = (
    "connect", "deadline", "lost", "stalled", "read_only", "pooler", "schema", "not_replicated", "shutdown",
    "resources", "conflict", "lock", "connections", "queue", "counting", "writes", "uploads",
)  # fmt: skip


class NotNow(Refusal):
    """The service cannot serve the call now. `cause`, one of CAUSES, is for our log and metrics, not for the caller.

    Only the kinds below, which have a code, are raised.
    """

    def __init__(self, sentence: str | None = None, *, cause: str = "unknown") -> None:
        super().__init__(sentence)
        self.cause = cause


class Unavailable(NotNow):
    """The call could not be finished in time and its outcome is unknown. Try again with the same Idempotency-Key."""

    code = "unavailable"


class Busy(Unavailable):
    """What this call needs is held by another one. Try again with the same Idempotency-Key."""


class Overloaded(NotNow):
    """Too many calls are waiting. Try again in a moment."""

    code = "overloaded"


class ChangedMeanwhile(Refusal):
    """It was changed since you read it. Read it again."""

    code = "changed_meanwhile"


class NotAllowedFromHere(Refusal):
    """This cannot be done in the present state."""

    code = "not_allowed"
