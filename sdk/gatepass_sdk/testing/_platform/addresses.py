"""E-mail addresses as the service compares them; `sdk/cases/addresses.json` has what both must say."""

import re
import unicodedata
from typing import Final

import idna

EMAIL: Final = re.compile(r"[^@\s]+@[^@\s]+")
LONGEST: Final = 320
ENCODED: Final = "xn--"


def is_email(text: str) -> bool:
    return (
        EMAIL.fullmatch(text) is not None
        and 3 <= len(normalized(text)) <= LONGEST
        and (text.isprintable() or _has_joined_domain(text))
    )


def normalized(email: str) -> str:
    """Two addresses are of one person if this is the same: the local part in lower case, the domain by IDNA 2008."""
    local_part, at, domain = unicodedata.normalize("NFC", email.strip()).rpartition("@")
    return unicodedata.normalize("NFC", local_part.lower()) + at + _compared(domain)


def _compared(domain: str) -> str:
    try:
        mapped = domain.lower() if domain.isascii() else idna.uts46_remap(domain, False, False)
    except idna.IDNAError:
        mapped = unicodedata.normalize("NFC", unicodedata.normalize("NFC", domain).lower())
    return ".".join(map(_in_letters, mapped.split("."))) if ENCODED in mapped else mapped


def _in_letters(label: str) -> str:
    try:
        return idna.ulabel(label) if label.startswith(ENCODED) else label
    except idna.IDNAError:
        return label


def _has_joined_domain(text: str) -> bool:
    local_part, _, domain = text.rpartition("@")
    try:
        return local_part.isprintable() and not domain.isascii() and idna.encode(domain, uts46=True) != b""
    except UnicodeError:
        return False
