"""Nothing happens unseen: each security event is in the audit log and in the log, and neither holds a secret."""

from dataclasses import dataclass
from datetime import timedelta
from typing import Any

import pytest

from gatepass.base.ids import new_id
from gatepass.domain import keys, staff
from gatepass.domain.staff import Role, invitations
from gatepass.domain.staff.webauthn import RelyingParty
from gatepass.studio.services.templates import root_of
from tests import factory
from tests.attacks.studio_client import StudioClient, audited, line_in, member, visiting
from tests.authenticator import Authenticator
from tests.processes import GatepassProcess
from tests.studio.people import GOOD, Known, asked, somebody, with_passkey

pytestmark = pytest.mark.finding(6)

ANOTHER = "nine quiet herons"


@dataclass
class Scene:
    """Somebody who can sign in, and a browser."""

    tenant: factory.Tenant
    known: Known
    client: StudioClient
    device: Authenticator
    secrets: list[str]

    @property
    def person_id(self) -> Any:
        return self.known.person.id

    async def type_password(self, password: str = GOOD, email: str | None = None) -> Any:
        self.secrets.append(password)
        form = {"email": email or self.known.person.email, "password": password}
        return await self.client.post("/studio/sign-in", data=form)

    async def type_code(self, code: str) -> Any:
        page = await self.type_password()
        self.secrets += [code, asked(page.text)]
        return await self.client.post("/studio/sign-in/code", data={"asked": asked(page.text), "code": code})

    async def show_passkey(self, device: Authenticator, where: str = "sign-in") -> Any:
        options = await self.client.post(f"/studio/{where}/passkey/options")
        return await self.client.post(f"/studio/{where}/passkey", data={"answer": device.get(options.text)})

    async def follow_link(self) -> Any:
        async with self.tenant.db.transaction() as tx:
            token = await staff.make_link(tx, self.person_id, cell="a", at=factory.now())
        self.secrets.append(token)
        return await self.client.post(f"/studio/link/{token}")


@pytest.fixture
async def scene(watched: GatepassProcess, tenant: factory.Tenant, request: pytest.FixtureRequest) -> Any:
    known = await somebody(tenant, codes=getattr(request, "param", False))
    party = RelyingParty("localhost", f"http://localhost:{watched.port}")
    device = await with_passkey(tenant, known.person, party)
    async with visiting(watched) as client:
        made = Scene(tenant, known, client, device, list(known.recovery))
        yield made
        secrets = [*made.secrets, *([client.session] if client.session else []), known.person.email]
        assert [line for line in watched.lines if any(secret in line for secret in secrets if secret)] == []


def shows(entries: list[dict[str, Any]], action: str, address: str, **fields: Any) -> bool:
    wanted = {"action": action, "address": address, **fields}
    return any(wanted.items() <= entry.items() for entry in entries)


async def told(scene: Scene, action: str, **fields: Any) -> dict[str, Any]:
    """The line, once it is there; the audit log has the entry too."""
    line = await scene.client.line(action, subject_id=str(scene.person_id), **fields)
    assert line["organization_ids"] == [str(scene.tenant.id)]
    assert line["request_id"].startswith("req_")
    entry = {name: fields[name] for name in ("reason",) if name in fields}
    assert shows(await audited(scene.tenant, scene.person_id), action, scene.client.address, **entry)
    return line


# ---- signing in and out ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("means", ["password", "passkey", "link"])
async def test_a_sign_in(scene: Scene, means: str) -> None:
    ways = {
        "password": scene.type_password, "passkey": lambda: scene.show_passkey(scene.device), "link": scene.follow_link
    }  # fmt: skip
    assert (await ways[means]()).status_code == 303
    line = await told(scene, "signed_in", means=means)
    assert (line["actor"], line["level"]) == (f"person {scene.person_id}", "info")


@pytest.mark.parametrize("scene", [True], indirect=True)
@pytest.mark.parametrize("means", ["password and code", "password and recovery code"])
async def test_a_sign_in_with_a_second_factor(scene: Scene, means: str) -> None:
    code = scene.known.code() if means == "password and code" else scene.known.recovery[0]
    assert (await scene.type_code(code)).status_code == 303
    await told(scene, "signed_in", means=means)


async def test_a_wrong_password(scene: Scene) -> None:
    assert (await scene.type_password("not the right one")).status_code == 422
    line = await told(scene, "sign_in_failed", reason="wrong_password")
    assert (line["actor"], line["level"]) == ("somebody not signed in", "warning")


async def test_an_unknown_address_leaves_its_hash_alone(scene: Scene) -> None:
    stranger = f"{new_id()}@example.org"
    assert (await scene.type_password(email=stranger)).status_code == 422
    line = await scene.client.line("sign_in_failed", reason="wrong_password")
    assert len(line["email_hash"]) == 16
    assert not [line for line in scene.client.server.lines if stranger in line]


@pytest.mark.parametrize("scene", [True], indirect=True)
@pytest.mark.parametrize("code", ["000000", "aaaa-bbbb-cccc-dddd", "", "١٢٣٤٥٦"])
async def test_a_wrong_code(scene: Scene, code: str) -> None:
    assert (await scene.type_code(code)).status_code == 422
    scene.secrets.remove(code)
    await told(scene, "sign_in_failed", reason="wrong_code")


async def test_a_passkey_of_nobody(scene: Scene) -> None:
    other = Authenticator(origin=scene.device.origin, rp_id="localhost")
    assert (await scene.show_passkey(other)).status_code == 422
    assert (await scene.client.line("sign_in_failed", reason="wrong_passkey"))["level"] == "warning"


async def test_a_link_that_was_used_already(scene: Scene) -> None:
    await scene.follow_link()
    assert (await scene.client.post(f"/studio/link/{scene.secrets[-1]}")).status_code == 404
    await scene.client.line("sign_in_failed", reason="wrong_link")


async def test_guesses_that_come_too_early_leave_one_entry(scene: Scene) -> None:
    for _ in range(5):
        await scene.type_password("not the right one")
    async with scene.tenant.db.transaction() as tx:  # a second, which a busy machine may need for what follows
        await tx.run("UPDATE failed_try SET waits_until = waits_until + interval '1 minute' WHERE failures = 5")
    for _ in range(7):
        await scene.type_password("not the right one")
    await told(scene, "sign_in_failed", reason="must_wait")
    entries = await audited(scene.tenant, scene.person_id)
    assert len([one for one in entries if one["reason"] == "wrong_password"]) == 5
    assert 1 <= len([one for one in entries if one["reason"] == "must_wait"]) <= 2


async def test_signing_out(scene: Scene) -> None:
    await scene.follow_link()
    await scene.client.post("/studio/sign-out")
    await told(scene, "signed_out", actor=f"person {scene.person_id}")


# ---- confirmation, sessions, credentials ------------------------------------------------------------------------


@pytest.mark.parametrize("means", ["password", "passkey"])
async def test_a_confirmation(scene: Scene, means: str) -> None:
    await scene.follow_link()
    if means == "password":
        await scene.client.post("/studio/confirm", data={"password": GOOD})
    else:
        await scene.show_passkey(scene.device, "confirm")
    await told(scene, "confirmed", means=means)


@pytest.mark.parametrize("means", ["password", "passkey"])
async def test_a_confirmation_that_fails(scene: Scene, means: str) -> None:
    await scene.follow_link()
    if means == "password":
        await scene.client.post("/studio/confirm", data={"password": "not the right one"})
    else:
        await scene.show_passkey(Authenticator(origin=scene.device.origin, rp_id="localhost"), "confirm")
    await told(scene, "confirmation_failed", reason=f"wrong_{means}")


@pytest.mark.parametrize(
    ("path", "form", "action"),
    [
        ("password", {"password": ANOTHER}, "password_set"),
        ("sessions/end-others", {}, "sessions_ended"),
        ("notices/not-me", {}, "activity_disowned"),
        ("name", {"name": "Grace B. Hopper"}, "renamed"),
    ],
)
async def test_a_change_of_the_account(scene: Scene, path: str, form: dict[str, str], action: str) -> None:
    await scene.follow_link()
    async with scene.tenant.db.transaction() as tx:
        await staff.begin(tx, scene.person_id, at=factory.now(), address=None, browser="another")
    assert (await scene.client.post(f"/studio/account/{path}", data=form)).status_code == 303
    scene.secrets += form.values()
    await told(scene, action)


@pytest.mark.parametrize("scene", [True], indirect=True)
@pytest.mark.parametrize(("path", "action"), [("recovery", "recovery_codes_made"), ("codes/off", "one_time_codes_off")])
async def test_a_change_of_codes(scene: Scene, path: str, action: str) -> None:
    await scene.follow_link()
    assert (await scene.client.post(f"/studio/account/{path}")).status_code in (200, 303)
    await told(scene, action)


async def test_a_new_passkey(scene: Scene) -> None:
    await scene.follow_link()
    options = await scene.client.post("/studio/account/passkeys/options")
    answer = Authenticator(origin=scene.device.origin, rp_id="localhost").create(options.text)
    await scene.client.post("/studio/account/passkeys", data={"answer": answer, "name": "of a thief"})
    scene.secrets += [answer, "of a thief"]
    await told(scene, "passkey_added")


# ---- invitations, exports, keys ---------------------------------------------------------------------------------


async def test_an_invitation_opened_and_accepted(scene: Scene) -> None:
    email = f"{new_id()}@example.org"
    async with scene.tenant.db.transaction() as tx:
        made = await invitations.invite(
            tx, scene.tenant.id, email, Role.VIEWER, giver=Role.OWNER, cell="a", by=factory.BY, at=factory.now()
        )
    scene.secrets += [made.token, email, ANOTHER]
    for _ in range(3):
        await scene.client.get(f"/studio/welcome/{made.token}")
    await scene.client.line("invitation_opened", actor="somebody not signed in", subject_id=str(made.invitation_id))
    await scene.client.post(f"/studio/welcome/{made.token}", data={"name": "Ada", "password": ANOTHER})
    await scene.client.line("invitation_accepted", subject_id=str(made.invitation_id))
    opened = [line for line in scene.client.lines() if line["event"] == "invitation_opened"]
    assert len(opened) <= 2


@pytest.mark.parametrize(
    ("path", "name"),
    [
        ("events/{event}/tickets/export", "event_tickets_with_holders_exported"),
        ("audit/export.csv", "organization_audit_log_exported"),
    ],
)
async def test_an_export(scene: Scene, path: str, name: str) -> None:
    person, scene.client.session = await member(scene.tenant)
    assert (
        await scene.client.get(f"{root_of(scene.tenant.id, 'live')}/{path.format(event=scene.tenant.event_id)}")
    ).status_code == 200
    line = await scene.client.line(name, actor=f"person {person.id}")
    assert line["organization_ids"] == [str(scene.tenant.id)]


async def test_an_export_without_names_says_so(scene: Scene) -> None:
    _, scene.client.session = await member(scene.tenant, Role.VIEWER)
    await scene.client.get(f"{root_of(scene.tenant.id, 'live')}/events/{scene.tenant.event_id}/tickets/export")
    await scene.client.line("event_tickets_exported")


async def test_keys_that_are_made_and_revoked(scene: Scene) -> None:
    _, scene.client.session = await member(scene.tenant)
    form = {"name": "Gate", "scopes": "events:read", "expiry": "7d"}
    await scene.client.post(f"{root_of(scene.tenant.id, 'live')}/keys", data=form)
    line = await scene.client.line("key_issued")
    await scene.client.post(f"{root_of(scene.tenant.id, 'live')}/keys/{line['subject_id']}/revoke")
    await scene.client.line("key_revoked", subject_id=line["subject_id"])


# ---- calls of the API ------------------------------------------------------------------------------------------


@pytest.mark.parametrize("reason", ["missing", "malformed", "unknown", "revoked", "expired", "address"])
async def test_a_key_that_is_refused(scene: Scene, reason: str) -> None:
    texts = {"missing": None, "malformed": "svc_live_x", "unknown": keys.make_key(keys.Mode.LIVE, "a")}
    text = texts.get(reason, "")
    if text == "":
        past = factory.now() - timedelta(hours=1)
        key = await scene.tenant.key(
            expires_at=past if reason == "expired" else None, networks="192.0.2.0/24" if reason == "address" else None
        )
        text = key.text
        if reason == "revoked":
            async with scene.tenant.db.transaction() as tx:
                await keys.revoke(tx, scene.tenant.id, key.id, by=factory.BY, at=factory.now())
    headers = {"Authorization": f"Bearer {text}"} if text else {}
    scene.secrets.append(text or "")
    answer = await scene.client.get("/api/public/v1/events", headers=headers)
    line = await scene.client.line("api_key_refused", reason=reason)
    assert (answer.status_code, line["request_id"]) == (401, answer.headers["x-request-id"])
    assert ("key_id" in line) == (reason in ("revoked", "expired", "address"))


async def test_a_key_over_its_rate(scene: Scene) -> None:
    key = await scene.tenant.key(rate=1)
    headers = {"Authorization": f"Bearer {key.text}"}
    statuses = {(await scene.client.get("/api/public/v1/events", headers=headers)).status_code for _ in range(6)}
    assert statuses == {200, 429}
    await line_in(scene.client.server, "api_rate_limited", reason="key", key_id=str(key.id))
