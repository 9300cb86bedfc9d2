"""Settings: read once, in a door, from `GATEPASS_…` variables or a `.env` file, and passed inwards."""

from ipaddress import IPv4Network, IPv6Network
from typing import Annotated, Literal

from pydantic import Field, SecretStr, field_validator
from pydantic_settings import BaseSettings, NoDecode, SettingsConfigDict

from gatepass.base.vault import Vault

BASE_PATH = "/api/public/v1"


class Settings(BaseSettings):
    model_config = SettingsConfigDict(
        env_prefix="GATEPASS_", env_file=".env", extra="ignore", frozen=True, env_ignore_empty=True
    )

    database_url: SecretStr = Field(
        default=SecretStr("postgresql://gatepass@127.0.0.1:5432/gatepass"),
        description="PostgreSQL 15 to 18. Several hosts may be named, with target_session_attrs=read-write.",
    )
    database_connections: int = Field(default=8, ge=1, le=100, description="Connections to PostgreSQL per process.")
    database_deadline: float = Field(
        default=3.0, ge=0.1, le=60, description="Seconds a call waits for PostgreSQL before it is answered with 503."
    )
    valkey_url: SecretStr | None = Field(
        default=None,
        description="Valkey or Redis, to share rate limits between processes. Without it each process has its own.",
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
        default="a", pattern="^[a-z]$", description="The letter of this cell; every key made here carries it."
    )
    trusted_proxies: Annotated[list[IPv4Network | IPv6Network], NoDecode] = Field(
        default_factory=list[IPv4Network | IPv6Network],
        description="Networks whose X-Forwarded-For is believed, separated by commas.",
    )
    log_level: Literal["debug", "info", "warning", "error"] = Field(default="info", description="How much is logged.")
    log_format: Literal["json", "console"] = Field(default="json", description="json for machines, console for people.")
    docs_key: SecretStr | None = Field(
        default=None, description="A sandbox key to fill in on the documentation pages. For development only."
    )

    @field_validator("encryption_keys", "trusted_proxies", mode="before")
    @classmethod
    def _split(cls, value: object) -> object:
        return [part.strip() for part in value.split(",") if part.strip()] if isinstance(value, str) else value

    @field_validator("public_url")
    @classmethod
    def _no_slash(cls, value: str) -> str:
        return value.rstrip("/")

    @property
    def base_url(self) -> str:
        return self.public_url + BASE_PATH

    def vault(self) -> Vault:
        return Vault([key.get_secret_value() for key in self.encryption_keys])
