"""One form of an address: Python and PostgreSQL fold the same letters, and a person has one address."""

import sys
import unicodedata

import pytest

from gatepass.base.database import Database
from gatepass.base.errors import InvalidRequest
from gatepass.base.ids import new_id
from gatepass.domain import staff
from gatepass.domain.staff import EmailTaken, Role, invitations, password, throttle
from gatepass.domain.staff.person import FIND, folded
from tests import factory
from tests.domain.staff.conftest import NOON

# Each is folded to an ASCII letter by somebody's lower(): U+0130, U+212A, full-width, dotless i, final sigma, long s.
LOOKALIKES = {
    "dotted capital i": ("i", "\u0130"),
    "dotless i": ("i", "\u0131"),
    "kelvin sign": ("k", "\u212a"),
    "full-width i": ("i", "\uff49"),
    "full-width capital k": ("k", "\uff2b"),
    "long s": ("s", "\u017f"),
    "final sigma": ("s", "\u03c2"),
    "capital sigma": ("s", "\u03a3"),
    "composed": ("e", "\u00e9"),
    "decomposed": ("e", unicodedata.normalize("NFD", "\u00e9")),
    "combining dot above": ("i", "i\u0307"),
    "zero width": ("k", "k\u200b"),
}
EACH = pytest.mark.parametrize(("plain", "lookalike"), LOOKALIKES.values(), ids=LOOKALIKES.keys())


async def test_python_and_postgresql_fold_every_character_alike(db: Database) -> None:
    letters = "".join(chr(code) for code in range(1, sys.maxunicode + 1) if not 0xD800 <= code <= 0xDFFF)
    async with db.autocommit() as tx:
        lowered = await tx.value('SELECT lower($1 COLLATE "C")', f"<{letters}>")
    assert lowered == folded(f"<{letters}>")


@pytest.mark.parametrize("spelling", ["ADA", "Ada", " ada ", "aDa"])
async def test_one_person_in_any_case(db: Database, spelling: str) -> None:
    host = f"@{new_id()}.example.org"
    async with db.transaction() as tx:
        person = await staff.enrol(tx, f"ada{host}", "Ada", at=NOON)
        assert await staff.find_person(tx, spelling.strip() + host.upper()) == person
        with pytest.raises(EmailTaken):
            await staff.enrol(tx, spelling.strip() + host, "Ada", at=NOON)
    assert throttle.password_of(f"{spelling.strip()}{host.upper()} ") == throttle.password_of(f"ada{host}")


@EACH
async def test_a_lookalike_is_another_address_for_the_account_and_for_the_throttle(
    db: Database, plain: str, lookalike: str
) -> None:
    email = f"kiesel@{new_id()}.example.org"
    typed = email.replace(plain, lookalike, 1)
    async with db.transaction() as tx:
        await staff.enrol(tx, email, "Kiesel", at=NOON)
        assert await staff.find_person(tx, typed) is None
        assert await password.known(tx, typed) is None, "no password is tried by another spelling"
    assert throttle.password_of(typed) != throttle.password_of(email)


@EACH
async def test_nobody_gets_an_address_with_a_lookalike(tenant: factory.Tenant, plain: str, lookalike: str) -> None:
    email = "kiesel@example.org".replace(plain, lookalike, 1)
    async with tenant.db.transaction() as tx:
        with pytest.raises(InvalidRequest, match="letters A to Z"):
            await staff.enrol(tx, email, "Kiesel", at=NOON)
        with pytest.raises(InvalidRequest, match="letters A to Z"):
            await invitations.invite(
                tx, tenant.id, email, Role.VIEWER, giver=Role.OWNER, cell="a", by=factory.BY, at=NOON
            )


@pytest.mark.parametrize("email", ["", "a", "@", "a@", "@b", "a b@c", "a@b@c", "a\n@b", "a@b\x00", "a" * 65 + "@b"])
async def test_what_is_no_address(db: Database, email: str) -> None:
    async with db.transaction() as tx:
        with pytest.raises(InvalidRequest, match="not an e-mail address"):
            await staff.enrol(tx, email, "Ada", at=NOON)


async def test_an_older_account_with_other_letters_still_signs_in(db: Database) -> None:
    """Version 0.2 took such addresses. They are compared letter by letter, except for A to Z."""
    email = f"J\u00f6rg@{new_id()}.example.org"
    async with db.transaction() as tx:
        await tx.run("INSERT INTO person (id, email, name, created_at) VALUES ($1, $2, 'J', $3)", new_id(), email, NOON)
        assert await staff.find_person(tx, email.replace("J", "j")) is not None


async def test_an_address_is_found_by_its_index(db: Database) -> None:
    async with db.transaction() as tx:
        await tx.run("SET LOCAL enable_seqscan = off")
        plan = await tx.rows(f"EXPLAIN {FIND}", "ada@example.org")  # pyright: ignore[reportArgumentType]
    assert "person_email_folded" in "\n".join(str(row[0]) for row in plan)
