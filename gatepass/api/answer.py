"""An answer before it goes out: status, headers and the bytes of the body."""

from dataclasses import dataclass, field
from typing import Any, Final

import msgspec
from starlette.responses import Response
from starlette.types import Message

ENCODER: Final = msgspec.json.Encoder()


@dataclass(slots=True)
class Answer:
    status: int
    body: bytes
    headers: dict[str, str] = field(default_factory=dict[str, str])

    @classmethod
    def of(cls, status: int, content: Any, headers: dict[str, str] | None = None) -> "Answer":
        return cls(status, ENCODER.encode(content), headers or {})

    def response(self) -> Response:
        return Response(self.body, self.status, self.headers, "application/json")

    def start(self) -> Message:
        """The first ASGI message, as Starlette would write it."""
        headers = [(name.lower().encode("latin-1"), value.encode("latin-1")) for name, value in self.headers.items()]
        headers.append((b"content-length", b"%d" % len(self.body)))
        headers.append((b"content-type", b"application/json"))
        return {"type": "http.response.start", "status": self.status, "headers": headers}
