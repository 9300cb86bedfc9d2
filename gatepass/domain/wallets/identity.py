"""What names a pass and what opens it: both are made of the link from which the pass was taken.

A wallet sends the serial number in paths and the token in a header. The serial number is the hash of the link, and so
finds the card. The token is derived from the link itself: whoever was given the pass alone cannot make the link of it.
A new link makes a new pass; the old one is voided.
"""

import hashlib
import hmac
import re
from base64 import urlsafe_b64decode, urlsafe_b64encode
from typing import Final

from gatepass.domain.cards.links import secret_hash
from gatepass.domain.cell import with_letter

# Where the service of a cell stands. The edge routes it by its letter, as it routes links.
SERVICE: Final = re.compile(r"([a-z])\.wallet", re.ASCII)
SERIAL: Final = re.compile(r"[a-z]\.([A-Za-z0-9_-]{43})", re.ASCII)
PURPOSE: Final = b"gatepass wallet token"


def service_url(public_url: str, cell: str) -> str:
    """Wallets append `/v1/…` to it."""
    return f"{public_url}/c/{with_letter(cell, 'wallet')}"


def serial_of(link: str, cell: str) -> str:
    return serial_of_hash(secret_hash(link), cell)


def serial_of_hash(link_hash: bytes, cell: str) -> str:
    return with_letter(cell, _encoded(link_hash))


def link_hash_of(serial: str) -> bytes | None:
    found = SERIAL.fullmatch(serial)
    return urlsafe_b64decode(found[1] + "=") if found else None


def token_of(link: str) -> str:
    return _encoded(hmac.digest(link.encode(), PURPOSE, "sha256"))


def token_hash(token: str) -> bytes:
    return hashlib.sha256(token.encode()).digest()


def _encoded(raw: bytes) -> str:
    return urlsafe_b64encode(raw).rstrip(b"=").decode()
