"""The letter of a cell: what leaves us and comes back carries it, so that the edge knows where it belongs.

An API key has the letter behind its prefix (keys/key.py). A link, a code or the name of a picture begins with it:
`<letter>.<rest>`. Nothing that was made without a letter has a dot there, so both kinds stay valid side by side. The
edge reads paths and the Authorization header, never a body. See docs/decisions/0017-cells.md.
"""

import re
import secrets
from typing import Final

TOKEN_BYTES: Final = 32
LETTERED: Final = re.compile(r"[a-z]\.")


def with_letter(cell: str, text: str) -> str:
    return f"{cell}.{text}"


def without_letter(text: str) -> str:
    """The rest of a lettered text; an older text as it is."""
    return text[2:] if LETTERED.match(text) else text


def new_token(cell: str) -> str:
    """The secret of a link: whoever has it may use it. 256 random bits behind the letter."""
    return with_letter(cell, secrets.token_urlsafe(TOKEN_BYTES))
