"""A form with a file, read while it arrives: the fields that stand before the file first, then the file in pieces.

Starlette would keep the whole file before a handler sees its first byte.
"""

from collections.abc import AsyncGenerator
from typing import Final

from python_multipart.exceptions import MultipartParseError
from python_multipart.multipart import MultipartParser, parse_options_header
from starlette.requests import ClientDisconnect, Request

from gatepass.base.refusals import InvalidRequest
from gatepass.studio.form import FormTooLarge

# All that is not the file.
LARGEST_FIELDS: Final = 1024 * 1024


class Upload:
    """`fields` holds what came before the file; `file_name` is empty if none was chosen."""

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
        self._name, self._field, self._fields_size = "", b"", 0
        self._parser = MultipartParser(_boundary(request), self._callbacks())  # pyright: ignore[reportArgumentType]
        if int(request.headers.get("content-length", "0") or "0") > largest + LARGEST_FIELDS:
            raise FormTooLarge(f"The file is larger than {largest // 2**20} MB. Split it into several.")

    async def begun(self) -> None:
        """Read on until the file begins, or until the end if there is none."""
        while not self._file_began and await self._read():
            pass

    async def pieces(self) -> AsyncGenerator[bytes, None]:
        """The file's own bytes."""
        while True:
            for piece in self._taken():
                yield piece
            if not await self._read():
                break
        for piece in self._taken():
            yield piece

    async def drain(self) -> None:
        """Take what is left and forget it: a browser shows our answer only when it has sent everything."""
        async for _ in self.pieces():
            pass

    def _taken(self) -> list[bytes]:
        taken, self._arrived = self._arrived, []
        return taken

    async def _read(self) -> bool:
        try:
            piece = await anext(self._stream, b"")
            self._size += len(piece)
            if self._size > self._largest + LARGEST_FIELDS:
                raise FormTooLarge
            if piece:
                self._parser.write(piece)
        except MultipartParseError:
            raise InvalidRequest("The form did not arrive whole. Send it again.") from None
        except ClientDisconnect:
            raise InvalidRequest("The upload broke off.") from None
        return bool(piece)

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
        self._header, self._field = {}, b""

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


def _boundary(request: Request) -> bytes:
    kind, options = parse_options_header(request.headers.get("content-type"))
    if kind != b"multipart/form-data" or b"boundary" not in options:
        raise InvalidRequest("A file comes as multipart/form-data.")
    return options[b"boundary"]
