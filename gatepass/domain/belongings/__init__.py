"""What somebody made that works without them: shown when they leave or get a lower role, and revoked by choice."""

from gatepass.domain.belongings.belonging import Belonging, BelongingKind, made_by
from gatepass.domain.belongings.revocation import revoke_all

__all__ = ["Belonging", "BelongingKind", "made_by", "revoke_all"]
