"""The IP address of a caller, also behind proxies, and the network that counts as one caller."""

import re
from collections.abc import Iterable, Sequence
from functools import lru_cache
from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network, ip_address
from typing import Final

from starlette.types import Scope

Address = IPv4Address | IPv6Address
Network = IPv4Network | IPv6Network

FORWARDED_FOR: Final = b"x-forwarded-for"
# Some proxies write the port too: `192.0.2.1:4711`, `[2001:db8::1]:4711`.
WITH_PORT: Final = re.compile(r"\[([^\]]+)\](?::\d{1,5})?|([^:]+):\d{1,5}", re.ASCII)
# A customer of an IPv6 provider has at least this many addresses (RFC 6177).
ONE_CALLER: Final = 64


def caller_address(scope: Scope, trusted: Sequence[Network]) -> Address | None:
    """The peer's address; behind trusted proxies, the last address in X-Forwarded-For that is not one of them.

    Behind a proxy that names no usable address it is the proxy's own, so that limits by address stay in force.
    """
    client = scope.get("client")
    address = parsed_address(client[0]) if client else None
    if not trusted or address is None or not is_within(address, trusted):
        return address
    hops = _forwarded(scope["headers"])
    while hops and is_within(address, trusted):
        hop = parsed_address(hops.pop())
        if hop is None:
            break
        address = hop
    return address


def is_within(address: Address | None, networks: Iterable[Network]) -> bool:
    address = getattr(address, "ipv4_mapped", None) or address
    return address is not None and any(address in network for network in networks)


def network_of(address: Address) -> str:
    """The address, or its /64 in IPv6: the owner of such a network has any number of addresses in it."""
    return str(address) if address.version == 4 else str(IPv6Network((int(address), ONE_CALLER), strict=False))


@lru_cache(4096)
def parsed_address(text: str) -> Address | None:
    """The address in this text. An IPv4 caller of a dual-stack socket (`::ffff:192.0.2.1`) has an IPv4 address."""
    text = text.strip()
    found = WITH_PORT.fullmatch(text)
    try:
        address = ip_address((found[1] or found[2]) if found else text)
    except ValueError:
        return None
    if isinstance(address, IPv4Address):
        return address
    # Without the zone of a link-local address, which PostgreSQL does not take.
    return address.ipv4_mapped or IPv6Address(int(address))


def mapped_network(network: Network) -> Network:
    """A network of IPv4-mapped addresses as the IPv4 network that it is."""
    if isinstance(network, IPv6Network) and network.network_address.ipv4_mapped and network.prefixlen >= 96:
        return IPv4Network((int(network.network_address.ipv4_mapped), network.prefixlen - 96))
    return network


def _forwarded(headers: Iterable[tuple[bytes, bytes]]) -> list[str]:
    """The hops, the caller's own first. The HTTP protocol refuses a request with two such headers."""
    return [hop for name, value in headers if name == FORWARDED_FOR for hop in value.decode("latin-1").split(",")]
