"""No secret is ever logged. A real process, at its most talkative, is shown every secret in every place it may turn up.

The database is one of its own, so that parts of it can be taken away: faults of ours log a trace, and that is where
secrets usually get out.
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

from gatepass.base.database import Database
from gatepass.base.vault import new_key
from gatepass.domain import keys
from gatepass.domain.keys import Mode
from gatepass.domain.sandbox import EVENT_ID
from gatepass.migrations import runner
from tests import make
from tests.api.conftest import assert_error, request_id, scan_body
from tests.api.endpoints import ALL
from tests.api.test_errors import FORGED
from tests.faults.gates import wait_for
from tests.make import House
from tests.postgres import Cluster, free_port
from tests.serving import Serving, serve

PASSWORD = "correct-horse-battery-staple"
IN_A_URL = "a-token-of-theirs"
WEBHOOK = {"url": f"https://example.com/hook?token={IN_A_URL}", "types": ["ticket.activated"]}


@dataclass
class Secrets:
    """Everything that must not be found, and whether it is."""

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
    serving: Serving
    house: House
    secrets: Secrets
    live: str
    sandbox: str

    def run(self, sql: str) -> None:
        with psycopg.connect(self.house.db._url, autocommit=True) as connection:
            connection.execute(sql.encode())


@pytest.fixture(scope="module")
async def scene(cluster: Cluster) -> AsyncGenerator[Scene]:
    secrets = Secrets({PASSWORD, IN_A_URL, *(vault_keys := (new_key(), new_key()))})
    url = cluster.create_database("gatepass_secrets")
    runner.upgrade(url)
    db = Database(url, deadline=20)
    house = await make.house(db)
    serving = serve(
        {
            "GATEPASS_DATABASE_URL": url.replace("postgres@", f"postgres:{PASSWORD}@"),
            "GATEPASS_ENCRYPTION_KEYS": ",".join(vault_keys),
            "GATEPASS_METRICS_PORT": "0",
            "GATEPASS_LOG_LEVEL": "debug",
            "GATEPASS_DOCS_KEY": secrets.key(keys.make_key(Mode.SANDBOX, "a")),
        },
        free_port(),
    )
    live = secrets.key((await house.key()).text)
    sandbox = secrets.key((await house.key(mode=Mode.SANDBOX)).text)
    yield Scene(serving, house, secrets, live, sandbox)
    if serving.is_alive():
        serving.stop()
    await db.close()


async def show_everything(scene: Scene) -> None:
    """Every endpoint in both modes, with secrets where they belong and where they do not."""
    house, secrets = scene.house, scene.secrets
    card = await house.card()
    good = secrets.token(house.token(card))
    tokens = [good, secrets.token(house.token(card, valid_for=timedelta(-1))), secrets.token(FORGED[:-1] + "Q")]
    for key, event_id in ((scene.live, house.event_id), (scene.sandbox, EVENT_ID)):
        async with scene.serving.client(key) as client:
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
    """A webhook's secret where it is told, and where it does not belong; and a URL that is one itself."""
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
    dead = await scene.house.key(expires_at=make.now() - timedelta(days=1))
    mangled = scene.live[:-1] + ("x" if scene.live[-1] != "x" else "y")
    shown = (unknown, scene.secrets.key(dead.text), mangled, scene.live[:-3], scene.live + scene.live, token)
    async with scene.serving.client() as client:
        for text in shown:
            for value in (f"Bearer {text}", f"Basic {text}", text, f"Bearer {text} {text}", f"Bearer  {text}"):
                await client.get("/events", headers={"Authorization": value})
            await client.get("/events", params={"key": text}, headers={"Cookie": f"key={text}", "X-Api-Key": text})
            await client.get(f"{scene.serving.url}/{text}")


def entries(lines: list[str]) -> list[dict[str, object]]:
    """The log, line by line. The one line that is not log tells people where the process listens."""
    return [json.loads(line) for line in lines if not line.startswith("Gatepass ")]


async def logged(scene: Scene, since: int = 0) -> list[str]:
    """All lines since, once the last call has been logged."""
    async with scene.serving.client() as client:
        last = (await client.get(scene.serving.url + "/livez")).headers["x-request-id"]

    async def is_logged() -> bool:
        return any(last in line for line in scene.serving.lines)

    await wait_for(is_logged)
    return scene.serving.lines[since:]


async def test_no_secret_is_logged(scene: Scene) -> None:
    await show_everything(scene)
    lines = await logged(scene)
    assert len(lines) > 100
    assert scene.secrets.found_in([f"a line with {scene.live} in it"]), "the search itself must work"
    assert scene.secrets.found_in(lines) == []


async def test_every_line_is_json_and_says_whose_call_it_was(scene: Scene) -> None:
    """Whoever searches the log at night has a request id in hand, or an organization."""
    async with scene.serving.client(scene.live) as client:
        asked = [await endpoint.call(client) for endpoint in ALL]
    by_request = {entry["request_id"]: entry for entry in entries(await logged(scene))}
    for answer in asked:
        entry = by_request[answer.headers["x-request-id"]]
        assert entry["organization_id"] == str(scene.house.id)
        assert entry["status"] == answer.status_code
        assert entry["level"] == ("debug" if answer.status_code < 400 else "info")


async def test_a_line_about_a_broken_request_is_json_too(scene: Scene) -> None:
    since = len(scene.serving.lines)
    for raw in (f"GARBAGE {scene.live} \x00\r\n\r\n", f"BREW / HTTP/1.1\r\nAuthorization: Bearer {scene.live}\r\n\r\n"):
        reader, writer = await asyncio.open_connection("127.0.0.1", scene.serving.port)
        writer.write(raw.encode())
        await asyncio.wait_for(reader.read(), 5)
        writer.close()
    lines = await logged(scene, since)
    assert scene.secrets.found_in(lines) == []
    assert entries(lines)


# From here on parts of the database are taken away, so that there are faults of ours.


async def break_and_ask(scene: Scene, *, keep_alive: bool) -> list[httpx2.Response]:
    """Take away what scans and verifications need, ask for both, and put it back."""
    token = scene.secrets.token(scene.house.token(await scene.house.card()))
    body = scan_body(scene.house, token=token, gate="north")
    limits = httpx2.Limits(max_keepalive_connections=None if keep_alive else 0)
    async with scene.serving.client(scene.live, limits=limits) as client:
        scene.run("ALTER FUNCTION activate_scans RENAME TO activate_nothing")
        try:
            answers = [await client.post("/scan", json=body, headers={"Idempotency-Key": token})]
        finally:
            scene.run("ALTER FUNCTION activate_nothing RENAME TO activate_scans")
        scene.run("ALTER TABLE signing_key RENAME TO signing_nothing")
        try:
            answers.append(await client.get("/card/verify", params={"token": token}))
            answers.append(await client.post("/scan", json=body))
        finally:
            scene.run("ALTER TABLE signing_nothing RENAME TO signing_key")
        scene.run("ALTER TABLE change RENAME TO change_nothing")
        try:
            answers.append(await client.post("/webhooks", json=WEBHOOK))
        finally:
            scene.run("ALTER TABLE change_nothing RENAME TO change")
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
    since = len(scene.serving.lines)
    answers = await break_and_ask(scene, keep_alive=True)
    for answer in answers:
        assert_error(answer, 500, "internal_error")
        assert "RateLimit" in answer.headers
    told = entries(await logged(scene, since))
    for answer in answers:
        events = [entry["event"] for entry in told if entry["request_id"] == answer.headers["x-request-id"]]
        assert sorted(map(str, events)) == ["call", "unhandled"]


async def test_a_fault_of_ours_leaves_its_audit_row(scene: Scene) -> None:
    answers = await break_and_ask(scene, keep_alive=False)
    ids = {request_id(answer) for answer in answers}

    async def all_are_there() -> bool:
        async with scene.house.db.reading() as tx:
            rows = await tx.rows("SELECT id FROM audit WHERE status = 500 AND code = 'internal_error'")
        return ids <= {row["id"] for row in rows}

    await wait_for(all_are_there, within=3)


async def test_no_webhook_secret_is_written_down(scene: Scene) -> None:
    """Neither in what is noted of changes and calls nor, unsealed, where it is kept."""
    async with scene.serving.client(scene.live) as client:
        await show_webhooks(scene, client)
        made = (await client.post("/webhooks", json=WEBHOOK)).json()["data"]
        scene.secrets.webhook(made["secret"])
    written: list[str] = []
    async with scene.house.db.reading() as tx:
        written += [row[0] for row in await tx.rows("SELECT c::text FROM change c")]
        written += [row[0] for row in await tx.rows("SELECT a::text FROM audit a")]
        assert scene.secrets.found_in(written) == []
        sealed = await tx.rows("SELECT sealed_secret, sealed_new_secret FROM webhook_endpoint")
    boxes = [box for row in sealed for box in row if box]
    assert boxes
    assert [secret for secret in scene.secrets.known for box in boxes if secret.encode() in box] == []


async def test_stopping_says_nothing_either(scene: Scene) -> None:
    assert scene.serving.stop() == 0
    assert scene.secrets.found_in(scene.serving.lines) == []
