"""What a phone keeps, read byte for byte: no name, no address, no number, no code and no key in plain text."""

from collections.abc import AsyncGenerator, Iterator
from pathlib import Path

import pytest
from playwright.async_api import Page, Playwright, Request, async_playwright

from gatepass.domain import cards
from gatepass.domain.cards import Card
from tests import factory
from tests.browser.engines.programs import HEADLESS_SHELL, QUIET
from tests.browser.scanner.network import Network
from tests.browser.scanner.phone import NAME, new_phone
from tests.browser.studio import Stack
from tests.browser.visit import PHONE, Visit

pytestmark = pytest.mark.browser

HOLDER, ADDRESS = "Augusta Ada Byron", "augusta.byron@example.org"
# Everything that scripts can read: both places, caches, and the small storage.
DUMP = """async () => {
    const found = [];
    const places = [indexedDB, (await navigator.storageBuckets.open("mirror")).indexedDB];
    const wait = (request) => new Promise((resolve, reject) => {
        request.onsuccess = () => resolve(request.result);
        request.onerror = () => reject(request.error);
    });
    const plain = (value) => {
        if (value instanceof CryptoKey) return `key extractable=${value.extractable}`;
        if (value instanceof ArrayBuffer || ArrayBuffer.isView(value)) {
            return Array.from(new Uint8Array(value.buffer ?? value), (byte) => String.fromCharCode(byte)).join("");
        }
        if (Array.isArray(value)) return value.map(plain);
        if (value !== null && typeof value === "object") {
            return Object.fromEntries(Object.entries(value).map(([name, inner]) => [name, plain(inner)]));
        }
        return value;
    };
    for (const place of places) {
        for (const { name } of await place.databases()) {
            const database = await wait(place.open(name));
            for (const store of database.objectStoreNames) {
                const rows = await wait(database.transaction(store).objectStore(store).getAll());
                found.push({ name, store, rows: rows.map(plain) });
            }
            database.close();
        }
    }
    for (const name of await caches.keys()) {
        const requests = await (await caches.open(name)).keys();
        found.push({ name, store: "cache", rows: requests.map((request) => request.url) });
    }
    found.push({ name: "localStorage", store: "localStorage", rows: [{ ...localStorage }] });
    return found;
}"""


async def holder(tenant: factory.Tenant) -> Card:
    async with tenant.db.transaction() as tx:
        card = await cards.issue(
            tx, tenant.id, by=factory.BY, at=factory.now(), holder_name=HOLDER, holder_email=ADDRESS
        )
    await tenant.ticket(card)
    return card


def secrets_of(card: Card, token: str) -> list[str]:
    bare = card.number.replace(" ", "")
    encoded = token.split(".")[1]
    return [HOLDER, "Augusta", "Byron", ADDRESS, "example.org", card.number, bare, bare[3:], token, encoded]


def files_with(folder: Path, secrets: list[str]) -> Iterator[str]:
    """Every file of a profile in which one of these stands, in bytes of one or of two a character."""
    looked_at = 0
    for path in folder.rglob("*"):
        if not path.is_file() or path.is_symlink():
            continue
        content = path.read_bytes()
        looked_at += 1
        for secret in secrets:
            if secret.encode() in content or secret.encode("utf-16-le") in content:
                yield f"{path.relative_to(folder)}: {secret}"
    assert looked_at > 50


class KeysInRequests:
    """The API keys with which a page calls the service."""

    def __init__(self, page: Page) -> None:
        self.seen: set[str] = set()
        page.on("request", self._look)

    def _look(self, request: Request) -> None:
        if authorization := request.headers.get("authorization"):
            self.seen.add(authorization.removeprefix("Bearer "))


@pytest.fixture
async def playwright() -> AsyncGenerator[Playwright]:
    async with async_playwright() as started:
        yield started


async def test_nothing_of_a_guest_can_be_read_on_the_phone(
    playwright: Playwright, tenant: factory.Tenant, stack: Stack, network: Network, tmp_path: Path
) -> None:
    context = await playwright.chromium.launch_persistent_context(
        tmp_path, executable_path=HEADLESS_SHELL, args=QUIET, viewport=PHONE
    )
    page = await context.new_page()
    keys = KeysInRequests(page)
    phone = await new_phone(tenant, stack, network.origin, Visit(page))
    online, offline, unsent = await holder(tenant), await tenant.card(), await tenant.card()
    shown = {card.number: tenant.token(card) for card in (online, offline, unsent)}
    await phone.knows(3)
    await phone.read(shown[online.number])
    await phone.says("ENTER")
    await network.cut()
    await phone.read(shown[offline.number])
    await phone.says("ENTER")
    await network.restore()
    await phone.has_sent_all()
    await network.cut()
    await phone.read(shown[unsent.number])
    await phone.says("ENTER")
    await phone.type("SVC 1234 5678 9012")
    await phone.page.keyboard.press("Escape")
    secrets = [text for card in (online, offline, unsent) for text in secrets_of(card, shown[card.number])]
    (key,) = keys.seen
    secrets += [key, key.removeprefix("svc_live_")]

    dumped = await phone.page.evaluate(DUMP)
    assert {one["store"] for one in dumped} > {"cache", "localStorage"}
    text = repr(dumped)
    assert "extractable=False" in text.replace("false", "False")
    assert "extractable=true" not in text
    assert [secret for secret in secrets if secret in text] == []
    assert not [one for one in dumped if one["store"] == "cache" and "/api/" in repr(one["rows"])]

    await context.close()
    assert list(files_with(tmp_path, secrets)) == []
    # The search finds what is there.
    assert list(files_with(tmp_path, ["gatepass-scanner"]))
    assert NAME not in secrets
