"""Trouble: what is wrong and how to mend it, in a line or a few, with an exit code. Nobody needs a traceback for it."""

from typing import Final

WRONG_STATE: Final = 1
WRONG_USAGE: Final = 2


class Trouble(Exception):  # noqa: N818  it is told, not raised at anyone
    def __init__(self, *lines: str, code: int = WRONG_STATE) -> None:
        super().__init__("\n".join(lines))
        self.code = code
