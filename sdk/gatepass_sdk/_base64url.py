"""Base64url without padding, in its canonical form only."""

from base64 import urlsafe_b64decode, urlsafe_b64encode
from binascii import Error as NotBase64

from gatepass_sdk._decode import Unreadable


def encoded(raw: bytes) -> str:
    return urlsafe_b64encode(raw).rstrip(b"=").decode()


def decoded(text: str) -> bytes:
    """Strict: the result must encode to the same text again."""
    try:
        raw = urlsafe_b64decode(text + "=" * (-len(text) % 4))
    except NotBase64 as error:
        raise Unreadable("base64url was expected") from error
    if encoded(raw) != text:
        raise Unreadable("base64url was expected")
    return raw
