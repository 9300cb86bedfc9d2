"""Ids and forms for the routes of signing in, the account and the team."""

from gatepass.base.ids import new_id
from gatepass.domain import staff
from gatepass.domain.staff import Role, invitations
from tests import factory
from tests.studio.routes import XSS


async def ids(tenant: factory.Tenant) -> dict[str, str]:
    """A member to change, and an open invitation. The ids of a session and a passkey are those of nobody."""
    async with tenant.db.transaction() as tx:
        person = await staff.enrol(tx, f"{new_id()}@example.org", f"Bob {XSS}", at=factory.now())
        await staff.join(tx, tenant.id, person.id, Role.VIEWER, by=factory.BY, at=factory.now())
        made = await invitations.invite(
            tx,
            tenant.id,
            f"<b>{new_id()}@example.org",
            Role.VIEWER,
            giver=Role.OWNER,
            cell="a",
            by=factory.BY,
            at=factory.now(),
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
    "POST /studio/{mode}/team/{person_id}/made": {},
    "POST /studio/{mode}/settings/access/second-factor": {"required": "true"},
    "POST /studio/{mode}/settings/access/networks": {"networks": "127.0.0.0/8 2001:db8::/32"},
}
# Without a choice it revokes nothing.
UNAUDITED = {"POST /studio/{mode}/team/{person_id}/made"}
