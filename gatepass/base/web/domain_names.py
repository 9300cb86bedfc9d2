"""Domain names as the DNS compares them: by IDNA 2008, prepared as browsers do (UTS 46, nontransitional).

Python's own codec is IDNA 2003, which makes of `faß.de` another domain, `fass.de`.
"""

import unicodedata
from typing import Final

import idna

ENCODED: Final = "xn--"


def ascii_domain(domain: str) -> str:
    """As SMTP, HTTP and the DNS take it; UnicodeError if it is none."""
    return domain.lower() if domain.isascii() else idna.encode(domain, uts46=True).decode()


def compared_domain(domain: str) -> str:
    """The one form of a domain, in letters: `fass.de` is one, `faß.de` and `xn--fa-hia.de` are another."""
    if domain.isascii():
        mapped = domain.lower()
    else:
        try:
            mapped = idna.uts46_remap(domain, std3_rules=False, transitional=False)
        except idna.IDNAError:
            mapped = unicodedata.normalize("NFC", unicodedata.normalize("NFC", domain).lower())
    return ".".join(map(_in_letters, mapped.split("."))) if ENCODED in mapped else mapped


def _in_letters(label: str) -> str:
    try:
        return idna.ulabel(label) if label.startswith(ENCODED) else label
    except idna.IDNAError:
        return label
