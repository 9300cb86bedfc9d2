"""The mail server that GATEPASS_SMTP_URL names."""

from dataclasses import dataclass, field
from enum import StrEnum
from typing import Final
from urllib.parse import parse_qs, unquote, urlsplit


class Encryption(StrEnum):
    """STARTTLS is required, so that nobody between can take it away; `never` is for a server on the same machine."""

    TLS = "tls"
    STARTTLS = "starttls"
    NEVER = "never"


PORTS: Final = {Encryption.TLS: 465, Encryption.STARTTLS: 587, Encryption.NEVER: 25}


@dataclass(frozen=True, slots=True)
class SmtpServer:
    host: str
    port: int
    encryption: Encryption
    user: str | None = None
    password: str | None = field(default=None, repr=False)


def smtp_server(url: str) -> SmtpServer:
    """The server of an URL such as smtp://user:password@mail.example.com:587. Its secrets are in no message."""
    try:
        parts = urlsplit(url)
        port = parts.port
        options = parse_qs(parts.query, keep_blank_values=True, strict_parsing=bool(parts.query))
    except ValueError:
        raise ValueError(FORM) from None
    never = options == {"starttls": ["never"]}
    if parts.scheme not in ("smtp", "smtps") or not parts.hostname or parts.path not in ("", "/") or parts.fragment:
        raise ValueError(FORM)
    if options and not (never and parts.scheme == "smtp"):
        raise ValueError(FORM)
    user, password = (None if one is None else unquote(one) for one in (parts.username, parts.password))
    if bool(user) != bool(password):
        raise ValueError("it should have a user and a password, or neither")
    encryption = Encryption.TLS if parts.scheme == "smtps" else Encryption.NEVER if never else Encryption.STARTTLS
    return SmtpServer(parts.hostname, port or PORTS[encryption], encryption, user or None, password or None)


FORM: Final = "it should look like smtp://user:password@mail.example.com:587 or smtps://…:465"
