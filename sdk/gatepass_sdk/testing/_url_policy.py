"""The URL policy of webhook endpoints: https, public addresses, one plain spelling."""

import re
from ipaddress import AddressValueError, IPv4Address, IPv6Address
from typing import Final

from gatepass_sdk.testing._http import Refused, invalid

LONGEST: Final = 2000
PORTS: Final = frozenset({443, 8443})
URL: Final = re.compile(
    r"(?P<scheme>https?)://"
    r"(?:\[(?P<v6>[0-9A-Fa-f:.]{2,45})\]|(?P<host>[A-Za-z0-9._-]{1,253}))"
    r"(?::(?P<port>[1-9][0-9]{0,4}))?"
    r"(?:[/?](?:[A-Za-z0-9._~:/?@!$&'()*+,;=\[\]-]|%[0-9A-Fa-f]{2})*)?",
    re.ASCII,
)
LABEL: Final = re.compile(r"[a-z0-9_](?:[a-z0-9_-]{0,61}[a-z0-9_])?", re.ASCII)
NUMBER: Final = re.compile(r"[0-9]+|0x[0-9a-f]*", re.ASCII)
USER: Final = re.compile(r"[^/?#]*//[^/?#]*@", re.ASCII)
INSIDE: Final = tuple(
    f".{name}" for name in ("localhost localdomain local internal intranet private corp home lan home.arpa".split())
)


def require_allowed(url: str, *, allow_private: bool) -> str:
    """The URL, if messages may be sent there."""
    found = _plain(url)
    host = found["v6"] or found["host"].lower()
    _require_host(host, is_v6=bool(found["v6"]), allow_private=allow_private)
    port = int(found["port"] or 443)
    if port > 65535:
        raise _refused("The port of the URL is not a port.")
    if not allow_private and found["scheme"] != "https":
        raise _refused("The URL must begin with https://.")
    if not allow_private and port not in PORTS:
        raise _refused("The port of the URL must be 443 or 8443.")
    return url


def _plain(url: str) -> re.Match[str]:
    if len(url) > LONGEST:
        raise _refused(f"The URL must not be longer than {LONGEST} characters.")
    if not url.isascii():
        raise _refused("The URL must be written in ASCII: a name in its xn-- form, the rest with percent signs.")
    if not url.startswith(("https://", "http://")):
        raise _refused("The URL must begin with https://.")
    if USER.match(url):
        raise _refused("The URL must not contain a user name or a password.")
    if "#" in url:
        raise _refused("The URL must not have a fragment (#).")
    found = URL.fullmatch(url)
    if found is None:
        raise _refused("This is not a URL that we can send to.")
    return found


def _require_host(host: str, *, is_v6: bool, allow_private: bool) -> None:
    labels = host.split(".")
    if is_v6:
        _require_address(host, IPv6Address, "The host of the URL is not an address.", allow_private=allow_private)
    elif not all(LABEL.fullmatch(label) for label in labels):
        raise _refused("The host of the URL is not a name.")
    elif NUMBER.fullmatch(labels[-1]):
        sentence = "The host of the URL is not an address in its usual form."
        _require_address(host, IPv4Address, sentence, allow_private=allow_private)
    elif not allow_private and (len(labels) == 1 or f".{host}".endswith(INSIDE)):
        raise _refused("The host of the URL is not a public name.")


def _require_address(text: str, kind: type[IPv4Address | IPv6Address], sentence: str, *, allow_private: bool) -> None:
    try:
        address = kind(text)
    except AddressValueError:
        raise _refused(sentence) from None
    if not (allow_private or (address.is_global and not address.is_multicast)):
        raise _refused("The host of the URL is not a public address.")


def _refused(sentence: str) -> Refused:
    return invalid(sentence, "url")
