"""Staff: the people of the studio, their roles, and how they authenticate."""

from gatepass.domain.staff.membership import Membership, join, memberships, role_now
from gatepass.domain.staff.person import (
    EmailTaken,
    Person,
    enrol,
    find_person,
    is_proven,
    lock_person,
    mark_proven,
    rename_person,
)
from gatepass.domain.staff.role import MAY, RANK, SEES, NotPermitted, Permission, Role
from gatepass.domain.staff.sessions import (
    LIFETIME,
    AccountDisabled,
    Session,
    begin,
    end,
    find,
    is_open,
    reload,
    switch_organization,
)
from gatepass.domain.staff.sign_in_links import make_link, use_link

__all__ = [
    "LIFETIME",
    "MAY",
    "RANK",
    "SEES",
    "AccountDisabled",
    "EmailTaken",
    "Membership",
    "NotPermitted",
    "Permission",
    "Person",
    "Role",
    "Session",
    "begin",
    "end",
    "enrol",
    "find",
    "find_person",
    "is_open",
    "is_proven",
    "join",
    "lock_person",
    "make_link",
    "mark_proven",
    "memberships",
    "reload",
    "rename_person",
    "role_now",
    "switch_organization",
    "use_link",
]
