"""A multipart form with a file, read while it arrives: the fields before the file, then the file in pieces.

Starlette would store the whole file before a handler sees its first byte. Parsing is bounded: so many parts, and so
many bytes in the fields.
"""

from collections.abc import AsyncGenerator
from typing import Final

from python_multipart.exceptions import FormParserError
from python_multipart.multipart import MultipartParser, parse_options_header
from starlette.requests import ClientDisconnect, Request

from gatepass.base.errors import InvalidRequest
from gatepass.studio.web.forms import LONGEST_TYPE, FormTooLarge
from gatepass.studio.web.parser_thread import parse, pieces

# Everything but the file.
LARGEST_FIELDS: Final = 1024 * 1024
# The page sends four.
MOST_PARTS: Final = 20


class Upload:
    """`fields` are those before the file; `file_name` is empty if no file was chosen."""

    def __init__(self, request: Request, *, largest: int) -> None:
        self.fields: dict[str, str] = {}
        self.file_name = ""
        self._stream = request.stream()
        self._largest = largest
        self._size = 0
        self._arrived: list[bytes] = []
        self._in_file = self._file_began = False
        self._header: dict[bytes, bytes] = {}
        self._header_name = self._header_value = b""
        self._name, self._field = "", bytearray()
        self._parts = self._fields_size = 0
        self._parser = _parser(request, self._callbacks())
        if int(request.headers.get("content-length", "0") or "0") > largest + LARGEST_FIELDS:
            raise FormTooLarge(f"The file is larger than {largest // 2**20} MB. Split it into several.")

    async def begun(self) -> None:
        """Read until the file begins, or to the end if there is none."""
        while not self._file_began and await self._read():
            pass

    async def pieces(self) -> AsyncGenerator[bytes, None]:
        """The content of the file."""
        more = True
        while more:
            more = await self._read()
            if self._arrived:
                yield self._taken()

    async def drain(self) -> None:
        """Read and discard the rest: a browser shows the response only after it has sent everything."""
        while await self._received():
            pass

    def _taken(self) -> bytes:
        """In one piece: the parser may give it in pieces of a few bytes."""
        taken, self._arrived = b"".join(self._arrived), []
        return taken

    async def _read(self) -> bool:
        received = await self._received()
        try:
            for piece in pieces(received):
                await parse(self._parser.write, piece)
        except FormParserError:
            raise InvalidRequest("The form did not arrive whole. Send it again.") from None
        return bool(received)

    async def _received(self) -> bytes:
        try:
            received = await anext(self._stream, b"")
        except ClientDisconnect:
            raise InvalidRequest("The upload broke off.") from None
        self._size += len(received)
        if self._size > self._largest + LARGEST_FIELDS:
            raise FormTooLarge
        return received

    def _callbacks(self) -> dict[str, object]:
        return {
            "on_part_begin": self._part_began,
            "on_header_field": self._on_header_name,
            "on_header_value": self._on_header_value,
            "on_header_end": self._on_header_end,
            "on_headers_finished": self._part_named,
            "on_part_data": self._on_data,
            "on_part_end": self._part_ended,
        }

    def _part_began(self) -> None:
        self._parts += 1
        if self._parts > MOST_PARTS:
            raise FormTooLarge
        self._header, self._field = {}, bytearray()

    def _on_header_name(self, data: bytes, start: int, end: int) -> None:
        self._header_name += data[start:end]

    def _on_header_value(self, data: bytes, start: int, end: int) -> None:
        self._header_value += data[start:end]

    def _on_header_end(self) -> None:
        self._header[self._header_name.lower()] = self._header_value
        self._header_name = self._header_value = b""

    def _part_named(self) -> None:
        _, options = parse_options_header(self._header.get(b"content-disposition"))
        self._name = options.get(b"name", b"").decode(errors="replace")
        self._in_file = b"filename" in options
        if self._in_file:
            self._file_began = True
            self.file_name = options[b"filename"].decode(errors="replace").replace("\0", "\ufffd")

    def _on_data(self, data: bytes, start: int, end: int) -> None:
        if self._in_file:
            self._arrived.append(data[start:end])
            return
        self._fields_size += end - start
        if self._fields_size > LARGEST_FIELDS:
            raise FormTooLarge
        self._field += data[start:end]

    def _part_ended(self) -> None:
        if not self._in_file:
            self.fields[self._name] = self._field.decode(errors="replace")
        self._in_file = False


def _parser(request: Request, callbacks: dict[str, object]) -> MultipartParser:
    kind, options = parse_options_header(request.headers.get("content-type", "")[:LONGEST_TYPE])
    if kind != b"multipart/form-data" or b"boundary" not in options:
        raise InvalidRequest("A file comes as multipart/form-data.")
    try:
        return MultipartParser(options[b"boundary"], callbacks)  # pyright: ignore[reportArgumentType]
    except FormParserError:
        raise InvalidRequest("The boundary of the form is longer than 256 bytes.") from None
