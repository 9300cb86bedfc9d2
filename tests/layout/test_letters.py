"""What leaves us and comes back carries the letter of its cell, or the edge cannot route it.

If your new secret comes back from outside (a card link, a pairing code), make it with `domain/cell.py`. Only a cookie
needs no letter: it comes back to the host of its own cell. See docs/decisions/0017-cells.md.
"""

import ast

from tests.layout.tree import ROOT, modules

MAKERS = frozenset({"token_urlsafe", "token_hex"})
WITH_LETTERS = "gatepass/domain/cell.py"
COOKIES = frozenset({"gatepass/domain/staff/sessions.py", "gatepass/domain/staff/reauthentication.py"})


def made_in() -> set[str]:
    """The modules that make secrets to be sent as text."""
    return {
        str(path)
        for path in modules()
        if path.parts[0] == "gatepass"
        for node in ast.walk(ast.parse((ROOT / path).read_text()))
        if getattr(node, "attr", getattr(node, "id", None)) in MAKERS
    }


def test_secrets_that_come_back_are_made_with_a_letter() -> None:
    assert made_in() == {WITH_LETTERS} | COOKIES
