"""An invitation whose link was handed over, sent to its address after all.

With a mail server nobody makes an account by a link that somebody else has seen. One that was made before there was a
mail server brings its bearer here: the invitation stays, its link goes by mail, and the old link ends.
"""

from datetime import datetime
from typing import Final

from gatepass.base.database import Tx
from gatepass.domain import audit_log
from gatepass.domain.cell import new_token
from gatepass.domain.security_log import NOBODY
from gatepass.domain.staff.invitations import InvitationNotFound, ReceivedInvitation
from gatepass.domain.staff.mail import allowance
from gatepass.domain.staff.mail.letters import Invited, StaffLetters
from gatepass.domain.staff.sessions import token_digest

# The page does not know who opened the link, and the letter must not say that it was a colleague.
INVITER: Final = "Somebody"


async def send_instead(
    tx: Tx, letters: StaffLetters, invitation: ReceivedInvitation, token: str, *, cell: str, at: datetime
) -> None:
    """Replace the link that was handed over, which is `token`, by one that only the invited person gets."""
    await allowance.take_for_invitation(tx, invitation.organization_id, invitation.email, at=at)
    mailed = new_token(cell)
    digests = token_digest(token), token_digest(mailed)
    if not await tx.run(REPLACE_LINK, invitation.organization_id, invitation.id, *digests, at):
        raise InvitationNotFound
    await audit_log.record(
        tx, invitation.organization_id, "invitation", invitation.id, "mailed", by=NOBODY, at=at,
        becomes=invitation.email,
    )  # fmt: skip
    invited = Invited(
        invitation.organization_id, invitation.organization_name, INVITER, invitation.email, invitation.role,
        invitation.expires_at,
    )  # fmt: skip
    await letters.invite(tx, invited, mailed, at=at)


REPLACE_LINK: Final = """
    UPDATE invitation
       SET token_hash = $4, proves_email = true, mailed_at = $5
     WHERE organization_id = $1
       AND id = $2
       AND token_hash = $3
       AND expires_at > $5
       AND accepted_at IS NULL
       AND revoked_at IS NULL
"""
