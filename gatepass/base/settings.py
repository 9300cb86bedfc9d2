"""Settings: read once, by the command line, from `GATEPASS_…` variables or a `.env` file, and passed on."""

import re
from ipaddress import IPv4Network, IPv6Network
from pathlib import Path
from typing import Annotated, Literal, Self
from urllib.parse import urlsplit

from pydantic import Field, SecretStr, field_validator, model_validator
from pydantic_settings import BaseSettings, NoDecode, SettingsConfigDict

from gatepass.base.client_ip import mapped_network
from gatepass.base.deadline import ACQUIRE_WITHIN
from gatepass.base.encryption import Vault

BASE_PATH = "/api/public/v1"
PREFIX = "GATEPASS_"
HOST = re.compile(r"[a-z0-9._-]+|[0-9a-f:.]*:[0-9a-f:.]*")
PUBLIC_URL = re.compile(r"https?://[^\s/?#@]+/*")
VALKEY_URL = re.compile(r"rediss?://[^\s/?#]*(/[0-9]{0,5})?(\?[^\s#]+)?|unix://[^\s?#]+(\?[^\s#]+)?")
TRACES_URL = re.compile(r"https?://[^\s/?#]+/[!-~]*")
SMTP_URL = re.compile(r"smtps?://[^\s/?#]+/?(\?starttls=never)?")
PUSH_URL = re.compile(r"https://[A-Za-z0-9.-]+(:[0-9]{1,5})?")
SENDER = re.compile(r"(?:[^<>\"@\x00-\x1f\x7f]{1,100} <[!-;=?-~]+@[a-z0-9.-]+>|[!-;=?-~]+@[a-z0-9.-]+)", re.ASCII)
CONTACT = re.compile(r"(?:mailto:|https://|tel:)[!-~]+")


class Settings(BaseSettings):
    model_config = SettingsConfigDict(
        env_prefix=PREFIX, env_file=".env", extra="ignore", frozen=True, env_ignore_empty=True
    )

    database_url: SecretStr = Field(
        default=SecretStr("postgresql://gatepass@127.0.0.1:5432/gatepass"),
        description="PostgreSQL 15 to 18. Several hosts may be named, with target_session_attrs=read-write; "
        "sslmode=verify-full for TLS.",
    )
    database_connections: int = Field(default=8, ge=1, le=100, description="Connections to PostgreSQL per process.")
    database_deadline: float = Field(
        default=3.0,
        ge=0.1,
        le=60,
        description="Seconds a call waits for PostgreSQL before it is answered with 503. "
        "Up to a sixth of them, and half a second at least, it waits for a free connection.",
    )
    valkey_url: SecretStr | None = Field(
        default=None,
        description="Valkey or Redis, to share rate limits between processes; rediss:// for TLS. "
        "Without it each process has its own.",
    )
    public_url: str = Field(
        default="http://127.0.0.1:8000", description="Where callers reach this service, without the path of the API."
    )
    host: str = Field(default="127.0.0.1", description="Address that the API listens on.")
    port: int = Field(default=8000, ge=0, le=65535, description="Port that the API listens on.")
    metrics_port: int = Field(
        default=9464,
        ge=0,
        le=65535,
        description="Port for Prometheus metrics, never the public one. 0 turns them off.",
    )
    worker_metrics_port: int = Field(
        default=9465, ge=0, le=65535, description="Port for the worker's Prometheus metrics. 0 turns them off."
    )
    webhook_allow_private: bool = Field(
        default=False,
        description="1 lets webhooks go to http, to any port and to private addresses. For development and tests only.",
    )
    encryption_keys: Annotated[list[SecretStr], NoDecode] = Field(
        default_factory=list[SecretStr],
        description="Keys for secrets at rest, by commas: the first seals, all open. `gatepass secret` makes one.",
    )
    cell: str = Field(
        default="a",
        pattern="^[a-z]$",
        description="The letter of this cell; every key, link and picture's URL made here carries it.",
    )
    former_cells: Annotated[list[Annotated[str, Field(pattern="^[a-z]$")]], NoDecode] = Field(
        default_factory=list[str],
        description="Letters whose keys are taken too, by commas: of a cell from which organizations moved here, "
        "or an earlier GATEPASS_CELL.",
    )
    trusted_proxies: Annotated[list[IPv4Network | IPv6Network], NoDecode] = Field(
        default_factory=list[IPv4Network | IPv6Network],
        description="Networks whose X-Forwarded-For is believed, separated by commas.",
    )
    security_contact: Annotated[list[str], NoDecode] = Field(
        default_factory=list[str],
        description="Whom to tell about a vulnerability, for /.well-known/security.txt: "
        "mailto:, https: or tel: URIs, by commas.",
    )
    log_level: Literal["debug", "info", "warning", "error"] = Field(default="info", description="How much is logged.")
    log_format: Literal["json", "console"] = Field(default="json", description="json for machines, console for people.")
    traces_url: SecretStr | None = Field(
        default=None,
        description="Receiver of traces, OTLP over HTTP in JSON, such as http://127.0.0.1:4318/v1/traces. "
        "Without it nothing is traced.",
    )
    traces_ratio: float = Field(
        default=0.01, ge=0, le=1, description="Share of the calls, and of the delivery attempts, that are traced."
    )
    traces_by_callers: int = Field(
        default=10,
        ge=0,
        le=10_000,
        description="Calls a second and process that are traced beyond that, because their traceparent is sampled.",
    )
    smtp_url: SecretStr | None = Field(
        default=None,
        description="Mail server, such as smtp://user:password@mail.example.com:587 or smtps:// for TLS at once. "
        "STARTTLS is required unless it ends in ?starttls=never. Without it no mail is sent.",
    )
    mail_from: str | None = Field(
        default=None,
        description="Sender of all letters: an address, with or without a name before it in the form "
        "`Name <address>`. Needed with GATEPASS_SMTP_URL.",
    )
    mail_connections: int = Field(
        default=4, ge=1, le=50, description="Connections to the mail server per worker: letters sent at the same time."
    )
    mail_domain_rate: int = Field(
        default=20,
        ge=1,
        le=10_000,
        description="Letters a second and worker to one recipient domain, so that large providers do not refuse them.",
    )
    max_connections: int = Field(
        default=4096, ge=16, le=100_000, description="Open connections per process. One more is closed at once."
    )
    head_deadline: int = Field(
        default=10, ge=1, le=300, description="Seconds within which the headers of a request must arrive."
    )
    body_deadline: int = Field(
        default=10,
        ge=1,
        le=300,
        description="Seconds after which a request body must have arrived at 4 KiB a second or faster.",
    )
    write_deadline: int = Field(
        default=20, ge=1, le=300, description="Seconds that a caller may leave its response unread."
    )
    docs_pages: bool = Field(
        default=True, description="0 turns the documentation pages (/docs) off. The interface description stays."
    )
    docs_key: SecretStr | None = Field(
        default=None, description="A sandbox key to fill in on the documentation pages. For development only."
    )

    apple_pass_certificate: Path | None = Field(
        default=None,
        description="File with the Pass Type ID certificate, for cards in Apple Wallet. Its key, the intermediate "
        "certificate, the pass type and the team are then needed too.",
    )
    apple_pass_key: Path | None = Field(
        default=None, description="File with the private key of that certificate, in PEM and without a password."
    )
    apple_wwdr_certificate: Path | None = Field(
        default=None, description="File with the certificate of Apple that signed it: Worldwide Developer Relations G4."
    )
    apple_pass_type: str | None = Field(
        default=None,
        pattern=r"^pass\.[A-Za-z0-9.-]{1,100}$",
        description="The pass type, such as pass.com.example.card.",
    )
    apple_team: str | None = Field(
        default=None, pattern="^[A-Z0-9]{10}$", description="The team identifier of the Apple developer account."
    )
    apple_push_url: str = Field(
        default="https://api.push.apple.com",
        description="Where phones are told that their pass has changed.",
    )
    google_wallet_issuer: str | None = Field(
        default=None, pattern="^[0-9]{5,30}$", description="The issuer id of Google Wallet, for cards in Google Wallet."
    )
    google_wallet_key: Path | None = Field(
        default=None, description="File with the key of the service account that signs them, JSON as Google gives it."
    )

    @field_validator("encryption_keys", "former_cells", "security_contact", "trusted_proxies", mode="before")
    @classmethod
    def _split(cls, value: object) -> object:
        return [part.strip() for part in value.split(",") if part.strip()] if isinstance(value, str) else value

    @field_validator("security_contact")
    @classmethod
    def _uris(cls, value: list[str]) -> list[str]:
        if not all(CONTACT.fullmatch(one) for one in value):
            raise ValueError("it should look like mailto:security@example.com or https://example.com/report")
        return value

    @field_validator("trusted_proxies")
    @classmethod
    def _as_seen(cls, value: list[IPv4Network | IPv6Network]) -> list[IPv4Network | IPv6Network]:
        return [mapped_network(network) for network in value]

    @field_validator("valkey_url")
    @classmethod
    def _valkey(cls, value: SecretStr | None) -> SecretStr | None:
        return _like(value, VALKEY_URL, "redis://host:6379/0 or rediss://host:6379/0", may_lack_host=True)

    @field_validator("traces_url")
    @classmethod
    def _http(cls, value: SecretStr | None) -> SecretStr | None:
        return _like(value, TRACES_URL, "http://127.0.0.1:4318/v1/traces")

    @field_validator("smtp_url")
    @classmethod
    def _smtp(cls, value: SecretStr | None) -> SecretStr | None:
        return _like(value, SMTP_URL, "smtp://user:password@mail.example.com:587")

    @field_validator("apple_push_url")
    @classmethod
    def _push(cls, value: str) -> str:
        _like(SecretStr(value), PUSH_URL, "https://api.push.apple.com")
        return value

    @field_validator("mail_from")
    @classmethod
    def _sender(cls, value: str | None) -> str | None:
        if value is not None and not SENDER.fullmatch(value):
            raise ValueError("it should look like Gatepass <cards@example.com>")
        return value

    @model_validator(mode="after")
    def _mail_has_a_sender(self) -> Self:
        if self.smtp_url is not None and self.mail_from is None:
            raise ValueError("GATEPASS_SMTP_URL needs GATEPASS_MAIL_FROM, such as Gatepass <cards@example.com>")
        return self

    @field_validator("public_url")
    @classmethod
    def _origin(cls, value: str) -> str:
        """Cookies, passkeys and the paths of all pages begin at the host."""
        _like(SecretStr(value), PUBLIC_URL, "https://tickets.example.com, with nothing behind the host and port")
        return value.rstrip("/")

    @property
    def base_url(self) -> str:
        return self.public_url + BASE_PATH

    @property
    def acquire_within(self) -> float:
        """Seconds that a call waits for a free connection."""
        return max(ACQUIRE_WITHIN, self.database_deadline / 6)

    @property
    def cells(self) -> frozenset[str]:
        """The letters of the keys that this cell takes."""
        return frozenset([self.cell, *self.former_cells])

    def vault(self) -> Vault:
        return Vault([key.get_secret_value() for key in self.encryption_keys])


def _like(
    value: SecretStr | None, form: re.Pattern[str], example: str, *, may_lack_host: bool = False
) -> SecretStr | None:
    """The URL, if it has this form, a host that can be one, and a port that there is."""
    if value is not None:
        text = value.get_secret_value()
        if not form.fullmatch(text) or not _has_host(text, may_lack_host=may_lack_host):
            raise ValueError(f"it should look like {example}")
    return value


def _has_host(url: str, *, may_lack_host: bool) -> bool:
    try:
        parts = urlsplit(url)
        host, port = parts.hostname, parts.port
    except ValueError:  # of a port above 65535, or of brackets
        return False
    return (HOST.fullmatch(host) is not None if host else may_lack_host) and port != 0
