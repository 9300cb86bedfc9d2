"""Access to the studio of an organization: from which networks, and whether a second factor is required.

The organization's settings are part of every session that is read, so a change holds from the next click on.
"""

from datetime import datetime
from ipaddress import IPv4Network, IPv6Network
from typing import Final
from uuid import UUID

from gatepass.base.client_ip import Address, is_within
from gatepass.base.database import Tx
from gatepass.base.errors import Refusal
from gatepass.domain import security_log
from gatepass.domain.organizations import SUBJECT
from gatepass.domain.staff.sessions import Session

Network = IPv4Network | IPv6Network


class AddressNotAllowed(Refusal):
    """This organization cannot be reached from your address."""

    code = "address_not_allowed"


class SecondFactorRequired(Refusal):
    """This organization requires a passkey or one-time codes. Sign in with one of them first."""

    code = "second_factor_required"


def require_access(session: Session, address: Address | None) -> None:
    """Refuse a session that may not enter its organization from this address, or not without a second factor."""
    if session.studio_networks is not None and not is_within(address, session.studio_networks):
        shown = f"and yours, {address}, is not one of them" if address else "and yours is not known"
        raise AddressNotAllowed(
            f"{session.organization_name} can be reached from certain addresses only, {shown}. "
            "Use a network that is on the list, or ask an owner to add yours."
        )
    if session.requires_second_factor and not session.second_factor:
        raise SecondFactorRequired


async def require_address(tx: Tx, organization_id: UUID) -> None:
    """Refuse somebody who wants to join from an address from which they could not enter."""
    networks = await tx.value(NETWORKS, organization_id)
    if networks is not None and not is_within(tx.address, networks):
        raise AddressNotAllowed


async def require_second_factor(tx: Tx, session: Session, *, required: bool, at: datetime) -> None:
    """Turn the requirement on or off. Whoever turns it on must meet it, or they would lock themselves out."""
    if required and not session.second_factor:
        raise SecondFactorRequired("Sign in with a passkey or with a one-time code yourself first.")
    if await tx.run(REQUIRE_SECOND_FACTOR, session.organization_id, required):
        await _record(tx, session, "second_factor_required" if required else "second_factor_not_required", at)


async def choose_networks(tx: Tx, session: Session, networks: list[Network], *, at: datetime) -> None:
    """Let people in from these networks only; none means from everywhere. The person's own address must be in them."""
    if networks and not is_within(tx.address, networks):
        raise AddressNotAllowed(
            f"Your own address, {tx.address}, is not in this list. Add it, or you would lock yourself out."
        )
    if await tx.run(CHOOSE_NETWORKS, session.organization_id, networks or None):
        await _record(tx, session, "studio_networks_chosen", at, becomes=_shown(networks))


async def clear_networks(tx: Tx, organization_id: UUID, *, by: str, at: datetime) -> bool:
    """Let people in from everywhere again, as an operator does for an organization that locked itself out."""
    cleared = bool(await tx.run(CHOOSE_NETWORKS, organization_id, None))
    if cleared:
        await security_log.record(
            tx, [organization_id], SUBJECT, organization_id, "studio_networks_chosen", by=by, at=at, becomes=_shown([])
        )
    return cleared


async def _record(tx: Tx, session: Session, action: str, at: datetime, becomes: str | None = None) -> None:
    assert session.organization_id is not None  # noqa: S101  a page of the organization asked for it
    await security_log.record(
        tx, [session.organization_id], SUBJECT, session.organization_id, action, by=session.actor, at=at,
        becomes=becomes,
    )  # fmt: skip


def _shown(networks: list[Network]) -> str:
    return ", ".join(map(str, networks)) or "every address"


NETWORKS: Final = "SELECT studio_networks FROM organization WHERE id = $1"

REQUIRE_SECOND_FACTOR: Final = """
    UPDATE organization
       SET requires_second_factor = $2
     WHERE id = $1
       AND requires_second_factor <> $2
"""

CHOOSE_NETWORKS: Final = """
    UPDATE organization
       SET studio_networks = $2
     WHERE id = $1
       AND studio_networks IS DISTINCT FROM $2
"""
