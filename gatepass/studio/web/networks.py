"""Networks that people type: IPv4 and IPv6 addresses and CIDR networks."""

from ipaddress import IPv4Network, IPv6Network, ip_network
from typing import Final

MOST_NETWORKS: Final = 50
Network = IPv4Network | IPv6Network


def networks_in(text: str) -> list[Network]:
    """IP addresses and networks, separated by lines, blanks or commas. ValueError names the first that is neither."""
    words = text.replace(",", " ").split()
    if len(words) > MOST_NETWORKS:
        raise ValueError(f"At most {MOST_NETWORKS} addresses or networks.")
    return [_network(word) for word in words]


def _network(word: str) -> Network:
    try:
        if "%" in word:
            raise ValueError
        loose = ip_network(word, strict=False)
    except ValueError:
        raise ValueError(f"{word[:60]} is no IP address or network.") from None
    try:
        return ip_network(word)
    except ValueError:
        raise ValueError(f"{word[:60]} is an address inside a network. Did you mean {loose}?") from None
