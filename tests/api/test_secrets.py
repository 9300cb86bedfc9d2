"""No secret is ever logged. A real process at debug level gets every secret in every place where one may occur.

It has a database of its own, so that parts of it can be removed: an internal error logs a trace, and traces are where
secrets usually leak.
"""

import asyncio
import json
from base64 import b64decode
from collections.abc import AsyncGenerator
from dataclasses import dataclass, field
from datetime import timedelta

import httpx2
import psycopg
import pytest

from gatepass.base.encryption import new_key
from gatepass.domain import keys
from gatepass.domain.keys import Mode
from gatepass.domain.sandbox import EVENT_ID
from tests import factory
from tests.api.conftest import assert_error, request_id, scan_body
from tests.api.endpoints import ALL
from tests.api.test_responses import FORGED
from tests.factory import Tenant
from tests.faults.gates import wait_for
from tests.postgres import Cluster, free_port
from tests.processes import GatepassProcess
from tests.warm.processes import serve

pytestmark = pytest.mark.processes

PASSWORD = "correct-horse-battery-staple"
IN_A_URL = "a-token-of-theirs"
WEBHOOK = {"url": f"https://example.com/hook?token={IN_A_URL}", "types": ["ticket.activated"]}


@dataclass
class Secrets:
    """The secrets, and a search for them."""

    known: set[str] = field(default_factory=set[str])

    def key(self, text: str) -> str:
        """The key, and its random part alone."""
        self.known |= {text, text[10:40]}
        return text

    def token(self, text: str) -> str:
        """The token, its signature alone, and the signature's bytes as Python would print them."""
        signature = text.rpartition(".")[2]
        raw = b64decode(signature + "==", altchars=b"-_")
        self.known |= {text, signature, raw.hex(), repr(raw)[2:-1]}
        return text

    def webhook(self, text: str) -> str:
        """A webhook's secret, what it encodes, and that as Python would print it."""
        encoded = text.removeprefix("whsec_")
        raw = b64decode(encoded)
        self.known |= {text, encoded, raw.hex(), repr(raw)[2:-1]}
        return text

    def found_in(self, lines: list[str]) -> list[tuple[str, str]]:
        return [(secret, line[:300]) for line in lines for secret in self.known if secret in line]


@dataclass
class Scene:
    server: GatepassProcess
    tenant: Tenant
    secrets: Secrets
    live: str
    sandbox: str

    def run(self, sql: str) -> None:
        with psycopg.connect(self.tenant.db.url, autocommit=True) as connection:
            connection.execute(sql.encode())


@pytest.fixture(scope="module")
async def scene(cluster: Cluster) -> AsyncGenerator[Scene]:
    secrets = Secrets({PASSWORD, IN_A_URL, *(vault_keys := (new_key(), new_key()))})
    url = cluster.create_migrated("gatepass_secrets")
    db = factory.database(url)
    tenant = await factory.tenant(db)
    server = serve(
        {
            **factory.environment(url.replace("postgres@", f"postgres:{PASSWORD}@")),
            "GATEPASS_ENCRYPTION_KEYS": ",".join(vault_keys),
            "GATEPASS_METRICS_PORT": "0",
            "GATEPASS_LOG_LEVEL": "debug",
            "GATEPASS_DOCS_KEY": secrets.key(keys.make_key(Mode.SANDBOX, "a")),
        },
        free_port(),
    )
    live = secrets.key((await tenant.key()).text)
    sandbox = secrets.key((await tenant.key(mode=Mode.SANDBOX)).text)
    yield Scene(server, tenant, secrets, live, sandbox)
    if server.is_alive():
        server.stop()
    await db.close()


async def show_everything(scene: Scene) -> None:
    """Every endpoint in both modes, with secrets where they belong and where they do not."""
    tenant, secrets = scene.tenant, scene.secrets
    card = await tenant.card()
    good = secrets.token(tenant.token(card))
    tokens = [good, secrets.token(tenant.token(card, valid_for=timedelta(-1))), secrets.token(FORGED[:-1] + "Q")]
    for key, event_id in ((scene.live, tenant.event_id), (scene.sandbox, EVENT_ID)):
        async with scene.server.client(key) as client:
            for endpoint in ALL:
                await endpoint.call(client)
            for token in (*tokens, good + "x", good[:-1], "x" + good):
                await client.get("/card/verify", params={"token": token})
                await client.get("/events", params={"token": token, "cursor": token, "limit": token})
                await client.get(f"/events/{token}")
                await client.get(f"/nowhere/{key}/{token}")
                body = {"event_id": str(event_id), "token": token, "gate": token[:64]}
                await client.post("/scan", json=body, headers={"Idempotency-Key": token})
                await client.post("/scan", json={**body, "event_id": token})
                await client.post("/scan", json={**body, "scanner_id": token, "occurred_at": token})
                await client.post("/scan", json={"card_number": token[:64], "event_id": key})
                await client.post("/scan", content=f'{{"token": "{token}", "key": "{key}"')
            await show_webhooks(scene, client)
    await show_bad_keys(scene, good)


async def show_webhooks(scene: Scene, client: httpx2.AsyncClient) -> None:
    """A webhook's secret in the answers that contain it and in wrong places; and a URL with a secret in it."""
    made = (await client.post("/webhooks", json=WEBHOOK)).json()["data"]
    url = f"/webhooks/{made['id']}"
    rotated = (await client.post(f"{url}/rotate-secret")).json()["data"]
    for secret in (scene.secrets.webhook(made["secret"]), scene.secrets.webhook(rotated["secret"])):
        await client.post(f"{url}/rotate-secret", json={"switch": secret})
        await client.post(f"{url}/replay", json={"since": secret, "delivery_id": secret})
        await client.patch(url, json={"url": secret, "types": [secret], "description": secret})
        await client.patch(url, json={"url": f"https://example.com/{secret}?{secret}", "description": secret})
        await client.get(f"{url}/deliveries", params={"status": secret, "cursor": secret})
        await client.get(f"{url}/deliveries/{secret}")
        await client.get("/webhook-events", params={"after": secret})
        await client.post("/webhooks", content=f'{{"url": "{secret}')
    await client.post(f"{url}/test")
    await client.post(f"{url}/rotate-secret", json={"switch": True})
    await client.get("/webhooks")
    await client.delete(url)


async def show_bad_keys(scene: Scene, token: str) -> None:
    unknown = scene.secrets.key(keys.make_key(Mode.LIVE, "a"))
    dead = await scene.tenant.key(expires_at=factory.now() - timedelta(days=1))
    mangled = scene.live[:-1] + ("x" if scene.live[-1] != "x" else "y")
    shown = (unknown, scene.secrets.key(dead.text), mangled, scene.live[:-3], scene.live + scene.live, token)
    async with scene.server.client() as client:
        for text in shown:
            for value in (f"Bearer {text}", f"Basic {text}", text, f"Bearer {text} {text}", f"Bearer  {text}"):
                await client.get("/events", headers={"Authorization": value})
            await client.get("/events", params={"key": text}, headers={"Cookie": f"key={text}", "X-Api-Key": text})
            await client.get(f"{scene.server.url}/{text}")


def entries(lines: list[str]) -> list[dict[str, object]]:
    """The log, line by line. The one line that is not JSON says where the process listens."""
    return [json.loads(line) for line in lines if not line.startswith("Gatepass ")]


async def logged(scene: Scene, since: int = 0) -> list[str]:
    """All lines after `since`, once the last call has been logged."""
    async with scene.server.client() as client:
        last = (await client.get(scene.server.url + "/livez")).headers["x-request-id"]

    async def is_logged() -> bool:
        return any(last in line for line in scene.server.lines)

    await wait_for(is_logged)
    return scene.server.lines[since:]


async def test_no_secret_is_logged(scene: Scene) -> None:
    await show_everything(scene)
    lines = await logged(scene)
    assert len(lines) > 100
    assert scene.secrets.found_in([f"a line with {scene.live} in it"]), "the search itself must work"
    assert scene.secrets.found_in(lines) == []


async def test_every_line_is_json_and_says_whose_call_it_was(scene: Scene) -> None:
    """An operator searches the log by a request id or an organization."""
    async with scene.server.client(scene.live) as client:
        asked = [await endpoint.call(client) for endpoint in ALL]
    by_request = {entry["request_id"]: entry for entry in entries(await logged(scene))}
    for answer in asked:
        entry = by_request[answer.headers["x-request-id"]]
        assert entry["organization_id"] == str(scene.tenant.id)
        assert entry["status"] == answer.status_code
        # A key of the wrong kind has its own line in the log of security events.
        is_quiet = answer.status_code < 400 or answer.status_code == 403
        assert entry["level"] == ("debug" if is_quiet else "info")


async def test_a_line_about_a_broken_request_is_json_too(scene: Scene) -> None:
    since = len(scene.server.lines)
    for raw in (f"GARBAGE {scene.live} \x00\r\n\r\n", f"BREW / HTTP/1.1\r\nAuthorization: Bearer {scene.live}\r\n\r\n"):
        reader, writer = await asyncio.open_connection("127.0.0.1", scene.server.port)
        writer.write(raw.encode())
        await asyncio.wait_for(reader.read(), 60)
        writer.close()
    lines = await logged(scene, since)
    assert scene.secrets.found_in(lines) == []
    assert entries(lines)


# From here on parts of the database are removed, so that there are internal errors.


async def break_and_ask(scene: Scene, *, keep_alive: bool) -> list[httpx2.Response]:
    """Remove tables and routines that scans, verifications and webhooks need, call each, and put them back."""
    token = scene.secrets.token(scene.tenant.token(await scene.tenant.card()))
    body = scan_body(scene.tenant, token=token, gate="north")
    limits = httpx2.Limits(max_keepalive_connections=None if keep_alive else 0)
    async with scene.server.client(scene.live, limits=limits) as client:
        scene.run("ALTER FUNCTION judge_scans RENAME TO activate_nothing")
        try:
            answers = [await client.post("/scan", json=body, headers={"Idempotency-Key": token})]
        finally:
            scene.run("ALTER FUNCTION activate_nothing RENAME TO judge_scans")
        scene.run("ALTER TABLE signing_key RENAME TO signing_nothing")
        try:
            answers.append(await client.get("/card/verify", params={"token": token}))
            answers.append(await client.post("/scan", json=body))
        finally:
            scene.run("ALTER TABLE signing_nothing RENAME TO signing_key")
        scene.run("ALTER TABLE audit_log RENAME TO audit_log_away")
        try:
            answers.append(await client.post("/webhooks", json=WEBHOOK))
        finally:
            scene.run("ALTER TABLE audit_log_away RENAME TO audit_log")
    return answers


async def test_a_fault_of_ours_gives_no_secret_away(scene: Scene) -> None:
    for answer in await break_and_ask(scene, keep_alive=False):
        assert answer.status_code == 500
        assert "Traceback" not in answer.text
        assert "signing" not in answer.text
        assert "whsec_" not in answer.text
    lines = await logged(scene)
    assert any("UndefinedTableError" in line for line in lines), "the trace belongs into the log"
    assert scene.secrets.found_in(lines) == []


async def test_a_fault_of_ours_is_answered_like_every_error(scene: Scene) -> None:
    since = len(scene.server.lines)
    answers = await break_and_ask(scene, keep_alive=True)
    for answer in answers:
        assert_error(answer, 500, "internal_error")
        assert "RateLimit" in answer.headers
    told = entries(await logged(scene, since))
    for answer in answers:
        events = [entry["event"] for entry in told if entry["request_id"] == answer.headers["x-request-id"]]
        assert sorted(map(str, events)) == ["call", "unhandled"]


async def test_a_fault_of_ours_leaves_its_row_in_the_request_log(scene: Scene) -> None:
    answers = await break_and_ask(scene, keep_alive=False)
    ids = {request_id(answer) for answer in answers}

    async def all_are_there() -> bool:
        async with scene.tenant.db.autocommit() as tx:
            rows = await tx.rows("SELECT id FROM logged_call WHERE status = 500 AND code = 'internal_error'")
        return ids <= {row["id"] for row in rows}

    await wait_for(all_are_there, within=60)


async def test_no_webhook_secret_is_written_down(scene: Scene) -> None:
    """Neither in the audit log nor in the request log; where it is stored, it is encrypted."""
    async with scene.server.client(scene.live) as client:
        await show_webhooks(scene, client)
        made = (await client.post("/webhooks", json=WEBHOOK)).json()["data"]
        scene.secrets.webhook(made["secret"])
    written: list[str] = []
    async with scene.tenant.db.autocommit() as tx:
        written += [row[0] for row in await tx.rows("SELECT c::text FROM audit_log c")]
        written += [row[0] for row in await tx.rows("SELECT a::text FROM logged_call a")]
        assert scene.secrets.found_in(written) == []
        sealed = await tx.rows("SELECT sealed_secret, sealed_new_secret FROM webhook_endpoint")
    boxes = [box for row in sealed for box in row if box]
    assert boxes
    assert [secret for secret in scene.secrets.known for box in boxes if secret.encode() in box] == []


async def test_stopping_says_nothing_either(scene: Scene) -> None:
    assert scene.server.stop() == 0
    assert scene.secrets.found_in(scene.server.lines) == []
