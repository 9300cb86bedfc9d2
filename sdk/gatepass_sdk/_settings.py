"""The settings of a client: from its arguments, or from the environment."""

import os
import sys
from dataclasses import dataclass, field
from ipaddress import IPv4Address, IPv4Network, IPv6Address, ip_address
from typing import Final

from gatepass_sdk._version import __version__
from gatepass_sdk.errors import ConfigurationError

LIVE: Final = "svc_live_"
SANDBOX: Final = "svc_test_"
USER_AGENT: Final = f"gatepass-sdk/{__version__} python/{sys.version_info.major}.{sys.version_info.minor}"
LOOPBACK: Final = IPv4Network("127.0.0.0/8")


@dataclass(frozen=True, slots=True)
class Settings:
    """The key is never in the repr, so that it does not get into a log."""

    api_key: str = field(repr=False)
    base_url: str

    @classmethod
    def of(cls, api_key: str | None, base_url: str | None, *, allow_http: bool = False) -> "Settings":
        key = api_key or os.environ.get("GATEPASS_API_KEY")
        url = base_url or os.environ.get("GATEPASS_BASE_URL")
        if not key:
            raise ConfigurationError("No API key: pass api_key= or set GATEPASS_API_KEY.")
        if not key.startswith((LIVE, SANDBOX)) or not key.isascii() or not key.isprintable():
            raise ConfigurationError(f"This is not an API key: one begins with {LIVE} or {SANDBOX}.")
        if not url:
            raise ConfigurationError(
                "No base URL: pass base_url= or set GATEPASS_BASE_URL. It ends with /api/public/v1."
            )
        return cls(key, checked_base_url(url, allow_http=allow_http))

    @property
    def is_sandbox(self) -> bool:
        return self.api_key.startswith(SANDBOX)

    @property
    def headers(self) -> dict[str, str]:
        return {
            "Authorization": f"Bearer {self.api_key}",
            "Accept": "application/json",
            "User-Agent": USER_AGENT,
        }


def checked_base_url(text: str, *, allow_http: bool = False) -> str:
    """The base URL without a slash at its end: https, or http to this machine, so that no network sees the key.

    It is read by the parser that also opens the connection.
    """
    import httpx2  # noqa: PLC0415  it takes long to import, and receivers of webhooks do not need it

    try:
        url = httpx2.URL(text)
    except httpx2.InvalidURL:
        url = httpx2.URL("")
    if url.scheme not in ("https", "http") or not url.host:
        raise ConfigurationError("The base URL must begin with https:// (or http:// on your own machine).")
    if url.userinfo or url.query or url.fragment:
        raise ConfigurationError("The base URL has no user, password, query or fragment. It ends with /api/public/v1.")
    if url.scheme == "http" and not allow_http and not _is_this_machine(url.host):
        raise ConfigurationError(
            f"http://{url.host} would send the API key in plain text. Use https://, or http:// with localhost, "
            "127.0.0.1 or [::1]."
        )
    return text.rstrip("/")


def _is_this_machine(host: str) -> bool:
    """Other spellings of these addresses, which resolvers read differently, do not count."""
    if host == "localhost":
        return True
    try:
        address = ip_address(host)
    except ValueError:
        return False
    return address in LOOPBACK if isinstance(address, IPv4Address) else address == IPv6Address("::1")
