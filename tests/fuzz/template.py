"""A request as parts that can be changed one by one, and as the bytes that are sent."""

from dataclasses import dataclass, replace
from typing import Self
from urllib.parse import quote

Headers = tuple[tuple[bytes, bytes], ...]


@dataclass(frozen=True)
class Template:
    method: bytes
    path: bytes
    headers: Headers = ()
    body: bytes = b""

    def with_body(self, body: bytes) -> Self:
        return replace(self, body=body)

    def with_header(self, name: bytes, value: bytes) -> Self:
        kept = tuple((found, text) for found, text in self.headers if found.lower() != name.lower())
        return replace(self, headers=(*kept, (name, value)))

    def raw(self) -> bytes:
        """Its framing is right, whatever its parts are."""
        lines = [b"%b %b HTTP/1.1" % (self.method, self.path), *(b"%b: %b" % header for header in self.headers)]
        if self.body or self.method not in (b"GET", b"DELETE"):
            lines.append(b"Content-Length: %d" % len(self.body))
        return b"\r\n".join([*lines, b"", self.body])


def in_url(text: str) -> bytes:
    return quote(text, safe="", errors="surrogatepass").encode()


def header_value(raw: bytes) -> bytes:
    """The bytes without those that end a line: the framing stays as it is."""
    return raw.translate(None, b"\r\n\0")


def multipart(fields: dict[bytes, bytes], files: dict[bytes, tuple[bytes, bytes]], boundary: bytes) -> bytes:
    parts = [
        b'--%b\r\nContent-Disposition: form-data; name="%b"\r\n\r\n%b\r\n' % (boundary, name, value)
        for name, value in fields.items()
    ]
    parts += [
        b'--%b\r\nContent-Disposition: form-data; name="%b"; filename="%b"\r\nContent-Type: text/csv\r\n\r\n%b\r\n'
        % (boundary, name, file_name, content)
        for name, (file_name, content) in files.items()
    ]
    return b"".join([*parts, b"--%b--\r\n" % boundary])
