"""An error of a command: the cause and the remedy in a line or a few, and an exit code. It needs no traceback."""

from typing import Final

WRONG_STATE: Final = 1
WRONG_USAGE: Final = 2


class CommandError(Exception):
    def __init__(self, *lines: str, code: int = WRONG_STATE) -> None:
        super().__init__("\n".join(lines))
        self.code = code
