"""What a client is told when it is made, or finds in the environment."""

import os
import sys
from dataclasses import dataclass, field
from typing import Final

from gatepass_sdk._version import __version__
from gatepass_sdk.errors import ConfigurationError

LIVE: Final = "svc_live_"
SANDBOX: Final = "svc_test_"
USER_AGENT: Final = f"gatepass-sdk/{__version__} python/{sys.version_info.major}.{sys.version_info.minor}"


@dataclass(frozen=True, slots=True)
class Settings:
    """The key never shows in a repr, so that it does not end in a log."""

    api_key: str = field(repr=False)
    base_url: str

    @classmethod
    def of(cls, api_key: str | None, base_url: str | None) -> "Settings":
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
        if not url.startswith(("https://", "http://")):
            raise ConfigurationError("The base URL must begin with https:// (or http:// on your own machine).")
        return cls(key, url.rstrip("/"))

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
