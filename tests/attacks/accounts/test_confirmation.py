"""Finding 11: a stolen session without a fresh confirmation reaches no secret, no export, and nothing that is final."""

import httpx2
import pytest

from gatepass.base.database import Database
from gatepass.domain import staff
from gatepass.domain.staff import Role, password
from tests import factory
from tests.attacks.accounts.visitor import Visitor
from tests.processes import GatepassProcess
from tests.studio.browser_session import another_person
from tests.studio.routes import Walk, all_ids, form_of, walks

pytestmark = pytest.mark.finding(11)

# Whoever does one of these must have authenticated in the last ten minutes.
CONFIRMED = {
    # ways to sign in
    "GET /studio/account/codes", "POST /studio/account/codes", "POST /studio/account/codes/begin",
    "POST /studio/account/codes/off", "POST /studio/account/recovery",
    "GET /studio/account/address", "POST /studio/account/address",
    "POST /studio/account/passkeys/{passkey_id}/remove", "POST /studio/account/passkeys/remove-all",
    # secrets, and where messages go
    "GET /studio/{mode}/keys/new", "POST /studio/{mode}/keys", "GET /studio/{mode}/keys/{key_id}/made",
    "GET /studio/{mode}/keys/{key_id}/roll", "POST /studio/{mode}/keys/{key_id}/roll",
    "GET /studio/{mode}/devices/pair", "POST /studio/{mode}/devices/pair",
    "GET /studio/{mode}/webhooks/new", "POST /studio/{mode}/webhooks/new",
    "GET /studio/{mode}/webhooks/{endpoint_id}/edit", "POST /studio/{mode}/webhooks/{endpoint_id}/edit",
    "POST /studio/{mode}/webhooks/{endpoint_id}/secret/rotate",
    "POST /studio/{mode}/webhooks/{endpoint_id}/secret/switch",
    "GET /studio/{mode}/settings/signing-keys/new", "POST /studio/{mode}/settings/signing-keys",
    "GET /studio/{mode}/settings/signing-keys/{signing_key_id}/retire",
    "POST /studio/{mode}/settings/signing-keys/{signing_key_id}/retire",
    # who may enter
    "GET /studio/{mode}/settings/access", "POST /studio/{mode}/settings/access/networks",
    "POST /studio/{mode}/settings/access/second-factor",
    # people
    "GET /studio/{mode}/team/invite", "POST /studio/{mode}/team/invite", "POST /studio/{mode}/team/{person_id}/role",
    "POST /studio/{mode}/team/{person_id}/remove", "POST /studio/{mode}/team/{person_id}/made",
    "GET /studio/{mode}/team/{person_id}/remove",
    # cards that let somebody in
    "POST /studio/{mode}/tickets/{unused_id}/print", "POST /studio/{mode}/events/{event_id}/cards",
    "POST /studio/{mode}/events/{event_id}/mail",
    "GET /studio/{mode}/events/{event_id}/cards/{ready_id}/file",
    "POST /studio/{mode}/cards/{card_id}/print", "POST /studio/{mode}/cards/{card_id}/replace",
    "POST /studio/{mode}/cards/{card_id}/link", "POST /studio/{mode}/cards/{card_id}/link/change",
    "POST /studio/{mode}/cards/{card_id}/phone/end",
    "GET /studio/{mode}/cards/{card_id}/merge", "POST /studio/{mode}/cards/{card_id}/merge",
    # exports of personal data
    "GET /studio/{mode}/events/{event_id}/tickets/export", "GET /studio/{mode}/audit/export.csv",
    # what cannot be taken back, for many at once
    "POST /studio/{mode}/webhooks/{endpoint_id}/delete",
    "GET /studio/{mode}/settings/erasure", "POST /studio/{mode}/settings/erasure/found",
    "POST /studio/{mode}/settings/erasure", "POST /studio/{mode}/settings/sandbox/empty",
    "GET /studio/{mode}/events/{event_id}/cancel", "POST /studio/{mode}/events/{event_id}/cancel",
    "GET /studio/{mode}/events/{event_id}/tell", "POST /studio/{mode}/events/{event_id}/tell",
    "POST /studio/{mode}/events/{event_id}/tell/{announcement_id}/stop",
    "POST /studio/{mode}/events/{event_id}/imports/{done_id}/undo",
}  # fmt: skip
# These decide for themselves: a person without any credential may make the first one.
THEMSELVES = {
    "POST /studio/account/password": {"password": "three brown llamas run"},
    "POST /studio/account/passkeys/options": {},
    "POST /studio/account/passkeys": {"answer": "{}"},
}


@pytest.fixture(scope="module")
async def stolen(behind_proxy: GatepassProcess, db: Database) -> tuple[Visitor, dict[str, str]]:
    """The session of an owner who authenticated long ago, and the ids of everything in the organization."""
    tenant = await factory.tenant(db)
    async with db.transaction() as tx:
        person = await staff.enrol(tx, f"owner.{tenant.id}@example.org", "Owner", at=factory.now())
        await staff.join(tx, tenant.id, person.id, Role.OWNER, by=factory.BY, at=factory.now())
        await password.keep(tx, person.id, "a hash", at=factory.now())
        cookie = await staff.begin(tx, person.id, at=factory.now(), address=None, browser="stolen", confirmed=False)
    await another_person(tenant, Role.OWNER)
    return Visitor(behind_proxy, cookie), await all_ids(tenant)


def sent_to_confirm(answer: httpx2.Response) -> bool:
    return answer.status_code == 303 and answer.headers["location"].startswith("/studio/confirm?next=")


@pytest.mark.parametrize("walk", [walk for walk in walks() if str(walk) in CONFIRMED], ids=str)
def test_it_asks_for_a_confirmation(stolen: tuple[Visitor, dict[str, str]], walk: Walk) -> None:
    thief, ids = stolen
    fields = form_of(walk) if walk.method == "POST" and "{mode}" in walk.path else {}
    answer = thief.send(walk.method, walk.url(ids), **fields)
    assert sent_to_confirm(answer)
    assert ("undone=1" in answer.headers["location"]) is (walk.method == "POST"), "nobody may think that it was done"


@pytest.mark.parametrize("route", THEMSELVES)
def test_a_credential_is_not_added_without_one(stolen: tuple[Visitor, dict[str, str]], route: str) -> None:
    thief, _ = stolen
    assert sent_to_confirm(thief.post(route.removeprefix("POST "), **THEMSELVES[route]))


@pytest.mark.parametrize("fields", [{"password": "wrong"}, {"password": ""}, {}, {"code": "123456"}], ids=str)
def test_a_confirmation_is_not_had_without_the_password(
    stolen: tuple[Visitor, dict[str, str]], fields: dict[str, str]
) -> None:
    thief, _ = stolen
    before = thief.cookie
    assert thief.post("/studio/confirm", **fields).status_code in (422, 429)
    assert thief.cookie == before


def test_the_list_is_whole() -> None:
    assert {str(walk) for walk in walks() if walk.confirmed} == CONFIRMED
