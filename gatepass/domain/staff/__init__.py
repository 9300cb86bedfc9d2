"""Staff: the people of the studio, what they may do, and how we know that it is them."""

from gatepass.domain.staff.links import make_link, use_link
from gatepass.domain.staff.membership import Workplace, join, workplaces
from gatepass.domain.staff.person import EmailTaken, Person, enrol, find_person, rename_person
from gatepass.domain.staff.presence import still_here
from gatepass.domain.staff.role import MAY, RANK, NotPermitted, Permission, Role
from gatepass.domain.staff.sessions import LIFETIME, Session, begin, end, find, go_to

__all__ = [
    "LIFETIME",
    "MAY",
    "RANK",
    "EmailTaken",
    "NotPermitted",
    "Permission",
    "Person",
    "Role",
    "Session",
    "Workplace",
    "begin",
    "end",
    "enrol",
    "find",
    "find_person",
    "go_to",
    "join",
    "make_link",
    "rename_person",
    "still_here",
    "use_link",
    "workplaces",
]
