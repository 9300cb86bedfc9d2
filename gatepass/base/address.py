"""The address that somebody calls from, also when proxies stand between."""

from collections.abc import Sequence
from functools import lru_cache
from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network, ip_address

from starlette.datastructures import Headers
from starlette.types import Scope

Address = IPv4Address | IPv6Address


def caller_address(scope: Scope, trusted: Sequence[IPv4Network | IPv6Network]) -> Address | None:
    """Who connected; behind a proxy that we trust, the last address in X-Forwarded-For that is not one of ours."""
    address = _parsed(scope["client"][0]) if scope.get("client") else None
    if not trusted or address is None:
        return address
    hops = [hop.strip() for line in Headers(scope=scope).getlist("x-forwarded-for") for hop in line.split(",")]
    while hops and address is not None and any(address in network for network in trusted):
        address = _parsed(hops.pop())
    return address


@lru_cache(4096)
def _parsed(text: str) -> Address | None:
    try:
        return ip_address(text)
    except ValueError:
        return None
