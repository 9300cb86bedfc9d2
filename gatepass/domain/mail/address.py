"""Addresses that a letter can be sent to.

A command of SMTP and a header end with a line break, and an address stands in both. So what is no plain address is
refused before it is written down: control characters, blanks, quotes, brackets, comments, a second address.
"""

import re
from typing import Final

from gatepass.base.errors import Refusal
from gatepass.base.web.domain_names import ascii_domain

# RFC 5321: 64 octets, "@", 255 octets; a path is at most 256 with its brackets.
LONGEST: Final = 254
LONGEST_LOCAL_PART: Final = 64
ATOM: Final = r"[A-Za-z0-9!#$%&'*+/=?^_`{|}~-]+"
LOCAL_PART: Final = re.compile(rf"{ATOM}(?:\.{ATOM})*", re.ASCII)
LABEL: Final = r"[A-Za-z0-9](?:[A-Za-z0-9-]{0,61}[A-Za-z0-9])?"
DOMAIN: Final = re.compile(rf"{LABEL}(?:\.{LABEL})*", re.ASCII)


class AddressNotSendable(Refusal):
    """No letter can be sent to this address."""

    code = "address_not_sendable"


def sendable(address: str) -> str:
    """The address as SMTP takes it, its domain in ASCII (IDNA); refused if it has none.

    Only ASCII may stand before the @: many mail servers do not take anything else yet (SMTPUTF8).
    """
    local_part, _, domain = address.strip(" ").rpartition("@")
    try:
        domain = ascii_domain(domain)
    except UnicodeError:
        raise AddressNotSendable from None
    found = f"{local_part}@{domain}"
    if (
        len(found) > LONGEST
        or len(local_part) > LONGEST_LOCAL_PART
        or not LOCAL_PART.fullmatch(local_part)
        or not DOMAIN.fullmatch(domain)
    ):
        raise AddressNotSendable
    return found


def is_sendable(address: str | None) -> bool:
    if not address:
        return False
    try:
        sendable(address)
    except AddressNotSendable:
        return False
    return True


def domain_of(address: str) -> str:
    return address.rpartition("@")[2].lower()
