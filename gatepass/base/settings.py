"""Settings: read once, by the command line, from `GATEPASS_…` variables or a `.env` file, and passed on."""

import re
from ipaddress import IPv4Network, IPv6Network
from typing import Annotated, Literal

from pydantic import Field, SecretStr, field_validator
from pydantic_settings import BaseSettings, NoDecode, SettingsConfigDict

from gatepass.base.client_ip import mapped_network
from gatepass.base.encryption import Vault

BASE_PATH = "/api/public/v1"
TRACES_URL = re.compile(r"https?://[^\s/?#]+/[!-~]*")
CONTACT = re.compile(r"(?:mailto:|https://|tel:)[!-~]+")


class Settings(BaseSettings):
    model_config = SettingsConfigDict(
        env_prefix="GATEPASS_", env_file=".env", extra="ignore", frozen=True, env_ignore_empty=True
    )

    database_url: SecretStr = Field(
        default=SecretStr("postgresql://gatepass@127.0.0.1:5432/gatepass"),
        description="PostgreSQL 15 to 18. Several hosts may be named, with target_session_attrs=read-write; "
        "sslmode=verify-full for TLS.",
    )
    database_connections: int = Field(default=8, ge=1, le=100, description="Connections to PostgreSQL per process.")
    database_deadline: float = Field(
        default=3.0, ge=0.1, le=60, description="Seconds a call waits for PostgreSQL before it is answered with 503."
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

    @field_validator("traces_url")
    @classmethod
    def _http(cls, value: SecretStr | None) -> SecretStr | None:
        if value is not None and not TRACES_URL.fullmatch(value.get_secret_value()):
            raise ValueError("it should look like http://127.0.0.1:4318/v1/traces")
        return value

    @field_validator("public_url")
    @classmethod
    def _no_slash(cls, value: str) -> str:
        return value.rstrip("/")

    @property
    def base_url(self) -> str:
        return self.public_url + BASE_PATH

    @property
    def cells(self) -> frozenset[str]:
        """The letters of the keys that this cell takes."""
        return frozenset([self.cell, *self.former_cells])

    def vault(self) -> Vault:
        return Vault([key.get_secret_value() for key in self.encryption_keys])
