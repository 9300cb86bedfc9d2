"""One phone at a time. A forwarded link is worth no more than its phone, and keeps nobody out."""

from dataclasses import dataclass, field
from datetime import datetime, timedelta
from uuid import UUID

import pytest
from nacl.signing import SigningKey

from gatepass.base.database import Tx
from gatepass.domain import cards
from gatepass.domain.cards import (
    CardStatus,
    InvalidCode,
    InvalidProof,
    IssuedCertificate,
    PhoneProof,
    mailed_codes,
    phones,
)
from gatepass.domain.cards.phone_code import CERTIFICATE_LIFE, read_certificate
from gatepass.domain.cards.phone_proof import MOVE_CONTEXT, PROOF_CONTEXT
from gatepass.domain.tickets import history
from tests import factory
from tests.factory import VAULT, Tenant

LINK = "a.secret"


@dataclass
class Handset:
    """A phone in a hand: its key, and what it signs."""

    key: SigningKey = field(default_factory=SigningKey.generate)

    @property
    def public_key(self) -> bytes:
        return bytes(self.key.verify_key)

    def proof(self, at: datetime, link: str = LINK) -> PhoneProof:
        second = int(at.timestamp())
        signature = self.key.sign(PROOF_CONTEXT + link.encode() + str(second).encode()).signature
        return PhoneProof(self.public_key, signature, second)

    def hand_over(self, to: "Handset") -> bytes:
        return self.key.sign(MOVE_CONTEXT + to.public_key).signature


async def enrol(tx: Tx, tenant: Tenant, card_id: UUID, phone: Handset, at: datetime | None = None) -> IssuedCertificate:
    return await phones.enrol(tx, tenant.id, card_id, phone.public_key, VAULT, at=at or factory.now())


async def held_card(tx: Tx, tenant: Tenant) -> UUID:
    card = await cards.issue(
        tx, tenant.id, by="test", at=factory.now(), holder_name="Ada", holder_email="ada@example.org"
    )
    return card.id


async def test_a_phone_gets_a_certificate_for_its_key_and_card(tenant: Tenant) -> None:
    card, phone = await tenant.card(), Handset()
    async with tenant.db.transaction() as tx:
        issued = await enrol(tx, tenant, card.id, phone)
        keys = await cards.verifying_keys(tx, tenant.id)
        assert await tx.value("SELECT phone FROM card WHERE organization_id = $1 AND id = $2", tenant.id, card.id) == 0
        entries = await history(tx, tenant.id, card.id, limit=1)
    certificate = read_certificate(issued.certificate, keys)
    assert (certificate.card_number, certificate.public_key, certificate.phone) == (card.number, phone.public_key, 0)
    assert certificate.expires_at == issued.expires_at
    assert [(entry.what, entry.actor, entry.becomes) for entry in entries] == [("phone enrolled", "holder", "phone 1")]


async def test_one_phone_is_enrolled_and_asks_again_as_often_as_it_likes(tenant: Tenant) -> None:
    card, phone, other = await tenant.card(), Handset(), Handset()
    async with tenant.db.transaction() as tx:
        first = await enrol(tx, tenant, card.id, phone)
        later = factory.now() + timedelta(days=3)
        for verb in (phones.enrol, phones.renew):
            again = await verb(tx, tenant.id, card.id, phone.public_key, VAULT, at=later)
            assert again.enrolment == first.enrolment
            assert again.expires_at > first.expires_at
        with pytest.raises(phones.PhoneEnrolled):
            await enrol(tx, tenant, card.id, other)
        with pytest.raises(phones.PhoneNotEnrolled):
            await phones.renew(tx, tenant.id, card.id, other.public_key, VAULT, at=later)
        with pytest.raises(phones.PhoneNotEnrolled):
            await phones.end(tx, tenant.id, card.id, by="holder", at=later, public_key=other.public_key)
        found = await cards.find_phone(tx, tenant.id, card.id)
    assert found is not None
    assert found.public_key == phone.public_key


async def test_the_enrolled_phone_lets_another_take_over_and_is_ended(tenant: Tenant) -> None:
    card, old, new, thief = await tenant.card(), Handset(), Handset(), Handset()
    async with tenant.db.transaction() as tx:
        await enrol(tx, tenant, card.id, old)
        for signature in (thief.hand_over(to=new), old.hand_over(to=thief), b"", bytes(64)):
            with pytest.raises(InvalidProof):
                await phones.move(tx, tenant.id, card.id, new.public_key, signature, VAULT, at=factory.now())
        signature = old.hand_over(to=new)
        moved = await phones.move(tx, tenant.id, card.id, new.public_key, signature, VAULT, at=factory.now())
        with pytest.raises(phones.PhoneNotEnrolled):
            await phones.renew(tx, tenant.id, card.id, old.public_key, VAULT, at=factory.now())
        (entry,) = await history(tx, tenant.id, card.id, limit=1)
    assert moved.enrolment == 1
    assert (entry.what, entry.was, entry.becomes) == ("phone moved", "phone 1", "phone 2")


async def test_a_key_that_has_ended_does_not_come_back(tenant: Tenant) -> None:
    """Otherwise a signature of the old phone, kept for later, would move the card once more."""
    card, old, new = await tenant.card(), Handset(), Handset()
    async with tenant.db.transaction() as tx:
        await enrol(tx, tenant, card.id, old)
        signature = old.hand_over(to=new)
        await phones.move(tx, tenant.id, card.id, new.public_key, signature, VAULT, at=factory.now())
        with pytest.raises(phones.PhoneEnded):
            await phones.move(tx, tenant.id, card.id, old.public_key, new.hand_over(to=old), VAULT, at=factory.now())


async def test_a_lead_ends_a_phone_and_the_link_enrols_the_next(tenant: Tenant) -> None:
    card = await tenant.card()
    async with tenant.db.transaction() as tx:
        await enrol(tx, tenant, card.id, Handset())
        await phones.end(tx, tenant.id, card.id, by="person 1", at=factory.now(), reason="It was stolen.")
        assert await cards.find_phone(tx, tenant.id, card.id) is None
        assert (await enrol(tx, tenant, card.id, Handset())).enrolment == 1
        (_, ended) = await history(tx, tenant.id, card.id, limit=2)
    assert (ended.what, ended.actor, ended.reason) == ("phone ended", "person 1", "It was stolen.")


async def test_a_forwarded_link_cannot_keep_the_holder_out(tenant: Tenant) -> None:
    """A stranger has enrolled, and has used up the phones that a link may enrol and the mails of this hour."""
    async with tenant.db.transaction() as tx:
        card_id, at = await held_card(tx, tenant), factory.now()
        for _ in range(phones.MOST_BY_LINK):
            await enrol(tx, tenant, card_id, Handset(), at)
            await phones.end(tx, tenant.id, card_id, by="holder", at=at)
        with pytest.raises(phones.TooManyPhones):
            await enrol(tx, tenant, card_id, Handset(), at)
        mails = [await mailed_codes.prepare(tx, tenant.id, card_id, at=at) for _ in range(5)]
        codes = [mail.code for mail in mails if mail is not None]
        for guess in range(1000):
            with pytest.raises(InvalidCode):
                await mailed_codes.use(tx, tenant.id, card_id, str(guess), at=at)
        late, holder = at + mailed_codes.LIFE - timedelta(seconds=1), Handset()
        await phones.move_by_code(tx, tenant.id, card_id, holder.public_key, codes[-1], VAULT, at=late)
        found = await cards.find_phone(tx, tenant.id, card_id)
    assert len(codes) == mailed_codes.MOST_SENT
    assert found is not None
    assert found.public_key == holder.public_key


async def test_no_number_is_given_again_while_a_certificate_with_it_may_be_alive(tenant: Tenant) -> None:
    card, current, at = await tenant.card(), Handset(), factory.now()
    async with tenant.db.transaction() as tx:
        await enrol(tx, tenant, card.id, current, at)
        for _ in range(15):
            new = Handset()
            await phones.move(tx, tenant.id, card.id, new.public_key, current.hand_over(new), VAULT, at=at)
            current = new
        new = Handset()
        move = (tx, tenant.id, card.id, new.public_key, current.hand_over(new), VAULT)
        week = at + CERTIFICATE_LIFE
        with pytest.raises(phones.TooManyPhones):
            async with tx.savepoint():
                await phones.move(*move, at=week - timedelta(seconds=1))
        assert (await phones.move(*move, at=week)).enrolment == 16


async def test_a_mailed_code_works_once_and_for_an_hour(tenant: Tenant) -> None:
    async with tenant.db.transaction() as tx:
        card_id, at = await held_card(tx, tenant), factory.now()
        other_id = (await cards.issue(tx, tenant.id, by="test", at=at)).id
        mail = await mailed_codes.prepare(tx, tenant.id, card_id, at=at)
        assert mail is not None
        assert mail.email == "ada@example.org"
        assert await mailed_codes.prepare(tx, tenant.id, other_id, at=at) is None, "nobody's address is known"
        with pytest.raises(InvalidCode):
            await mailed_codes.use(tx, tenant.id, other_id, mail.code, at=at)
        with pytest.raises(InvalidCode):
            await mailed_codes.use(tx, tenant.id, card_id, mail.code, at=at + mailed_codes.LIFE)
        await mailed_codes.use(tx, tenant.id, card_id, mail.code.replace(" ", ""), at=at)
        with pytest.raises(InvalidCode):
            await mailed_codes.use(tx, tenant.id, card_id, mail.code, at=at)
        hour = at + mailed_codes.LIFE
        assert all([await mailed_codes.prepare(tx, tenant.id, card_id, at=hour) for _ in range(3)])
        assert await mailed_codes.prepare(tx, tenant.id, card_id, at=hour) is None


async def test_a_revoked_card_and_another_organizations_card_have_no_phone(tenant: Tenant) -> None:
    card, other = await tenant.card(), await factory.tenant(tenant.db)
    async with tenant.db.transaction() as tx:
        with pytest.raises(cards.CardNotFound):
            await enrol(tx, other, card.id, Handset())
    await tenant.move_card(card, CardStatus.REVOKED)
    async with tenant.db.transaction() as tx:
        with pytest.raises(cards.CardRevoked):
            await enrol(tx, tenant, card.id, Handset())


def test_a_proof_is_of_this_link_and_this_minute() -> None:
    phone, at = Handset(), factory.now()
    phone.proof(at).require(LINK, at=at + timedelta(seconds=100))
    forged = PhoneProof(Handset().public_key, phone.proof(at).signature, int(at.timestamp()))
    small = PhoneProof(bytes([1]) + bytes(31), bytes([1]) + bytes(63), int(at.timestamp()))
    for proof, link, moment in (
        (phone.proof(at), "a.other", at),
        (phone.proof(at), LINK, at + timedelta(seconds=122)),
        (phone.proof(at), LINK, at - timedelta(seconds=122)),
        (forged, LINK, at),
        (small, LINK, at),
        (PhoneProof(phone.public_key, b"", int(at.timestamp())), LINK, at),
    ):
        with pytest.raises(InvalidProof):
            proof.require(link, at=moment)
