"""Secrets of endpoints: made here, shown once, kept sealed."""

from dataclasses import dataclass
from uuid import UUID

from gatepass.base.vault import Vault
from gatepass.domain.webhooks.signature import new_secret


@dataclass(frozen=True, slots=True, repr=False)
class Issued:
    """A new secret: as its owner sees it, this once, and as it is kept."""

    text: str
    sealed: bytes


def issue_secret(vault: Vault, organization_id: UUID, endpoint_id: UUID) -> Issued:
    text = new_secret()
    return Issued(text, vault.seal(text.encode(), secret_context(organization_id, endpoint_id)))


def secret_context(organization_id: UUID, endpoint_id: UUID) -> str:
    """What a secret is sealed with, so that it opens in its own row alone; the old and the new one alike."""
    return f"webhook_endpoint {organization_id} {endpoint_id}"
