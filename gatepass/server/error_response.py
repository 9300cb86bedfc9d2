"""Responses to requests that never reach an application, because HTTP itself refuses them."""

import json
from collections.abc import Iterable, Mapping
from typing import Final

from gatepass.base.errors import InvalidRequest
from gatepass.base.wire_constants import SHOULD_RETRY_HEADER
from gatepass.server.combined_app import OTHER_PATHS

STATUS_LINE: Final = b"HTTP/1.1 400 Bad Request\r\n"
PAGES: Final = tuple(path.encode() for path in OTHER_PATHS)


def error_response(
    sentence: str, url: bytes, request_id: str, more: Mapping[str, str], default: Iterable[tuple[bytes, bytes]]
) -> bytes:
    """A whole response, after which the connection is closed: JSON as the API writes it, or plain text for a page."""
    if url.startswith(PAGES):
        kind, body = "text/plain; charset=utf-8", f"{sentence}\n"
    else:
        kind, body = "application/json", json.dumps({"error": sentence, "code": InvalidRequest.code})
    headers = {
        "content-type": kind,
        "content-length": str(len(body.encode())),
        "cache-control": "no-store",
        "x-request-id": request_id,
        SHOULD_RETRY_HEADER: "false",
        **more,
        "connection": "close",
    }
    lines = [name + b": " + value for name, value in default]
    lines += [f"{name}: {value}".encode("latin-1") for name, value in headers.items()]
    return STATUS_LINE + b"\r\n".join(lines) + b"\r\n\r\n" + body.encode()
