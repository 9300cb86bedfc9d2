"""The URL policy: webhooks go to public addresses, by https, in a URL with only one reading.

A URL is parsed by us, by the HTTP client and by the resolver. Parts that they could parse differently (user names,
backslashes, numbers instead of addresses) are refused, so that the checked host is the one that is connected to. Names
are not looked up here: the SSRF guard calls `is_public` for each address before it connects.
"""

import re
from ipaddress import AddressValueError, IPv4Address, IPv4Network, IPv6Address, IPv6Network
from typing import Final

from gatepass.base.client_ip import Address
from gatepass.base.errors import InvalidRequest

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
# Text that inet_aton reads as an address ends in one of these; a public name does not.
NUMBER: Final = re.compile(r"[0-9]+|0x[0-9a-f]*", re.ASCII)
USER: Final = re.compile(r"[^/?#]*//[^/?#]*@", re.ASCII)

# Names and suffixes that exist only inside a network.
INSIDE: Final = (
    "localhost",
    "localdomain",
    "local",
    "internal",
    "intranet",
    "private",
    "corp",
    "home",
    "lan",
    "home.arpa",
)


def require_allowed(url: str, *, allow_private: bool) -> str:
    """The URL itself, if messages may be sent there. `allow_private` is for development and tests."""
    found = _plain(url)
    if found["v6"]:
        _require_v6(found["v6"], allow_private=allow_private)
    else:
        _require_host(found["host"].lower(), allow_private=allow_private)
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


def _require_v6(text: str, *, allow_private: bool) -> None:
    try:
        address = IPv6Address(text)
    except AddressValueError:
        raise _refused("The host of the URL is not an address.") from None
    if not (allow_private or is_public(address)):
        raise _refused("The host of the URL is not a public address.")


def _require_host(host: str, *, allow_private: bool) -> None:
    labels = host.split(".")
    if not all(LABEL.fullmatch(label) for label in labels):
        raise _refused("The host of the URL is not a name.")
    if NUMBER.fullmatch(labels[-1]):
        _require_v4(host, allow_private=allow_private)
    elif not allow_private and (len(labels) == 1 or f".{host}".endswith(tuple(f".{name}" for name in INSIDE))):
        raise _refused("The host of the URL is not a public name.")


def _require_v4(text: str, *, allow_private: bool) -> None:
    """Only four plain decimal numbers: some parsers read 2130706433, 0x7f.1, 0177.0.0.1 and 127.1 as loopback too."""
    try:
        address = IPv4Address(text)
    except AddressValueError:
        raise _refused("The host of the URL is not an address in its usual form.") from None
    if not (allow_private or is_public(address)):
        raise _refused("The host of the URL is not a public address.")


def is_public(address: Address) -> bool:
    """Whether an address is public unicast. An unknown range is not."""
    if isinstance(address, IPv4Address):
        return not any(address in network for network in NOT_PUBLIC_V4)
    return (
        address in UNICAST_V6
        and address.scope_id is None
        and not any(address in network for network in NOT_PUBLIC_V6)
        and not _is_isatap(address)
    )


def _is_isatap(address: IPv6Address) -> bool:
    """An interface identifier that contains an IPv4 address, to which a router of that network may forward."""
    return int(address) >> 32 & 0xFDFF_FFFF == 0x0000_5EFE


def _refused(sentence: str) -> InvalidRequest:
    return InvalidRequest(sentence, param="url")


# From the special-purpose registries of IANA. `ipaddress.is_global` is not enough: it calls multicast, 192.88.99.1 and
# IPv4 inside IPv6 public, and it changes with the version of Python.
NOT_PUBLIC_V4: Final = tuple(
    IPv4Network(network)
    for network in (
        "0.0.0.0/8",  # this network; 0.0.0.0 reaches this machine
        "10.0.0.0/8",  # private
        "100.64.0.0/10",  # carrier-grade NAT; metadata of one cloud
        "127.0.0.0/8",  # loopback
        "168.63.129.16/32",  # the host of every machine in one cloud, on an address that looks public
        "169.254.0.0/16",  # link-local; metadata of most clouds
        "172.16.0.0/12",  # private
        "192.0.0.0/24",  # protocol assignments; metadata of one cloud
        "192.0.2.0/24",  # documentation
        "192.31.196.0/24",  # AS112
        "192.52.193.0/24",  # AMT relays
        "192.88.99.0/24",  # 6to4 relays
        "192.168.0.0/16",  # private
        "192.175.48.0/24",  # AS112
        "198.18.0.0/15",  # benchmarks
        "198.51.100.0/24",  # documentation
        "203.0.113.0/24",  # documentation
        "224.0.0.0/4",  # multicast
        "240.0.0.0/4",  # reserved, and broadcast
    )
)
# All other ranges are not public unicast: loopback, IPv4 mapped, compatible or translated (::/3, with
# 64:ff9b::/96 and 64:ff9b:1::/48), 100::/64 discard, 5f00::/16 segment routing, fc00::/7 private, fe80::/10 link-local,
# fec0::/10 site-local, ff00::/8 multicast.
UNICAST_V6: Final = IPv6Network("2000::/3")
NOT_PUBLIC_V6: Final = tuple(
    IPv6Network(network)
    for network in (
        "2001::/23",  # protocol assignments: Teredo, benchmarks, AMT, AS112, ORCHID
        "2001:db8::/32",  # documentation
        "2002::/16",  # 6to4: an IPv4 address inside
        "2620:4f:8000::/48",  # AS112
        "3ffe::/16",  # given back: the first test network
        "3fff::/20",  # documentation
    )
)
