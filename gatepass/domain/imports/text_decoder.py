"""The text of a file: UTF-8, or Windows-1252, as spreadsheets of Western Europe and the Americas still write it."""

import codecs
from typing import Final

UTF_8: Final = "utf-8"
WINDOWS_1252: Final = "windows-1252"
UTF_16: Final = (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)


class TextDecoder(codecs.IncrementalDecoder):
    """UTF-8, until a byte that is none. If everything before was ASCII, the file is Windows-1252 from there on.

    Otherwise it is UTF-8 with a fault in it, which is refused: the letters before would all be read wrong. So is a file
    with NULs, such as UTF-16.
    """

    def __init__(self) -> None:
        super().__init__()
        self.encoding = UTF_8
        self._utf_8 = codecs.getincrementaldecoder("utf-8-sig")()
        self._is_ascii = True

    def decode(self, input: bytes, final: bool = False) -> str:  # type: ignore[override]  # noqa: FBT001, FBT002
        if self.encoding is WINDOWS_1252:
            return input.decode(WINDOWS_1252)
        waiting = self._utf_8.getstate()[0]
        try:
            text = self._utf_8.decode(input, final)
        except UnicodeDecodeError as error:
            whole = waiting + input
            if not self._is_ascii or whole.startswith(UTF_16) or b"\0" in whole or not whole[: error.start].isascii():
                raise
            self.encoding = WINDOWS_1252
            return whole.decode(WINDOWS_1252)
        self._is_ascii = self._is_ascii and text.isascii()
        return text
