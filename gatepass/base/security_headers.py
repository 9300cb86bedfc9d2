"""Security headers that every response has, and the origin that browsers name."""

from typing import Final
from urllib.parse import urlsplit

from starlette.datastructures import Headers

from gatepass.base.web.domain_names import ascii_domain

STRICT_TRANSPORT: Final = "max-age=31536000; includeSubDomains"
DEFAULT_PORTS: Final = {"http": 80, "https": 443}


def security_headers(public_url: str) -> dict[str, str]:
    """No guessing of content types; and, where the service is reached over TLS, never without it (HSTS)."""
    headers = {"x-content-type-options": "nosniff"}
    if public_url.lower().startswith("https:"):
        headers["strict-transport-security"] = STRICT_TRANSPORT
    return headers


def origin_of(url: str) -> str:
    """Scheme, host and port of a URL, as a browser writes them in `Origin` (RFC 6454)."""
    parts = urlsplit(url)
    host = parts.hostname or ""
    host = f"[{host}]" if ":" in host else ascii_domain(host)
    port = "" if parts.port in (None, DEFAULT_PORTS.get(parts.scheme)) else f":{parts.port}"
    return f"{parts.scheme}://{host}{port}"


def is_same_origin(headers: Headers, ours: str) -> bool:
    """The CSRF check: whether our own page sent the request. Browsers set these headers, and no page can forge them.

    Without TLS, and not on localhost, browsers send only the origin. It must be that of the public URL: the Host header
    is the caller's, has no scheme, and a proxy may rewrite it.
    """
    site = headers.get("sec-fetch-site")
    return site == "same-origin" if site is not None else headers.get("origin") == ours
