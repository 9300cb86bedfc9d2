"""What the pages of signing in, of the account and of the team need to be walked."""

from gatepass.base.ids import new_id
from gatepass.domain import staff
from gatepass.domain.staff import Role, invitations
from tests import make
from tests.studio.walk import XSS


async def ids(house: make.House) -> dict[str, str]:
    """A member to change, and an open invitation. Sessions and passkeys are nobody's: they are a person's own."""
    async with house.db.transaction() as tx:
        person = await staff.enrol(tx, f"{new_id()}@example.org", f"Bob {XSS}", at=make.now())
        await staff.join(tx, house.id, person.id, Role.VIEWER, by=make.BY, at=make.now())
        made = await invitations.invite(
            tx, house.id, f"<b>{new_id()}@example.org", Role.VIEWER, giver=Role.OWNER, by=make.BY, at=make.now()
        )
    return {
        "person_id": str(person.id),
        "invitation_id": str(made.invitation_id),
        "token": made.token,
        "session_id": str(new_id()),
        "passkey_id": str(new_id()),
    }


FORMS = {
    "POST /studio/{mode}/team/invite": {"email": "new@example.org", "role": "viewer"},
    "POST /studio/{mode}/team/invitations/{invitation_id}/revoke": {},
    "POST /studio/{mode}/team/{person_id}/role": {"role": "developer"},
    "POST /studio/{mode}/team/{person_id}/remove": {},
}
UNNOTED = set[str]()
