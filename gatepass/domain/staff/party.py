"""Who we are to a browser."""

from dataclasses import dataclass
from urllib.parse import urlsplit


@dataclass(frozen=True, slots=True)
class Party:
    """For whom a passkey is good: a domain, and the one origin under it that is ours."""

    id: str
    origin: str


def party(public_url: str) -> Party:
    """Who we are to a browser. An address cannot be a domain, so in development we are `localhost`."""
    parts = urlsplit(public_url)
    host = parts.hostname or "localhost"
    host = "localhost" if host in ("127.0.0.1", "::1") else host
    return Party(host, f"{parts.scheme}://{host}" + (f":{parts.port}" if parts.port else ""))
