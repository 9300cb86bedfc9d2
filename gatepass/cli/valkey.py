"""The configured Valkey or Redis, for `gatepass doctor`."""

from typing import Final
from urllib.parse import parse_qs, urlsplit

from gatepass.base.tls import tls_fault
from gatepass.cli.database import is_this_machine

# Seconds. The API itself waits half a second.
TIMEOUT: Final = 2.0
FORM: Final = "the URL is not one like rediss://host:6379/0, or has an option that is not known"


def where(url: str) -> str:
    """The host and port, never the password."""
    parts = urlsplit(url)
    return f"{parts.hostname or '127.0.0.1'}:{parts.port or 6379}" if parts.scheme != "unix" else parts.path


def is_unverified(url: str) -> bool:
    """Whether somebody on the way could read and change what is sent."""
    parts = urlsplit(url)
    if parts.scheme == "unix" or is_this_machine(parts.hostname or ""):
        return False
    options = parse_qs(parts.query)
    checked = options.get("ssl_cert_reqs", ["required"]) == ["required"]
    named = options.get("ssl_check_hostname", ["True"])[0].lower() in ("true", "yes", "1")
    return parts.scheme != "rediss" or not checked or not named


def has_form(url: str) -> bool:
    """Whether the client understands it, with all of its options."""
    from redis.asyncio import Redis  # noqa: PLC0415

    try:
        Redis.from_url(url).connection_pool.make_connection()
    except (TypeError, ValueError):
        return False
    return True


async def fault(url: str) -> str | None:
    """Why it cannot be used, or None."""
    # It takes a while to import, and only `doctor` needs it.
    from redis.asyncio import Redis  # noqa: PLC0415
    from redis.exceptions import AuthenticationError, RedisError  # noqa: PLC0415

    try:
        async with Redis.from_url(url, socket_timeout=TIMEOUT, socket_connect_timeout=TIMEOUT) as client:
            await client.ping()
    except AuthenticationError:
        return "it refuses this user or password"
    except (RedisError, OSError) as error:
        return tls_fault(error) or "it does not answer"
    except (TypeError, ValueError):
        return FORM
    return None
