"""POST /cards/{id}/link: the same link each time, a new one on demand, none for a card that has ended."""

from uuid import uuid4

import httpx2

from gatepass.domain.cards import CardStatus
from gatepass.domain.keys import Scope
from tests.api.conftest import Api, assert_error
from tests.factory import Tenant


async def link(client: httpx2.AsyncClient, card_id: object, key: str | None = None, **body: object) -> httpx2.Response:
    headers = {"Idempotency-Key": key} if key else {}
    return await client.post(f"/cards/{card_id}/link", json=body or None, headers=headers)


async def url(client: httpx2.AsyncClient, card_id: object, key: str | None = None, **body: object) -> str:
    answer = await link(client, card_id, key, **body)
    assert answer.status_code == 200, answer.text
    return answer.json()["data"]["url"]


async def test_a_card_has_one_link(client: httpx2.AsyncClient, tenant: Tenant) -> None:
    card, other = await tenant.card(), await tenant.card()
    first = await url(client, card.id)
    assert "/c/a." in first
    assert await url(client, card.id) == await url(client, card.id, replace=False) == first
    assert await url(client, other.id) != first


async def test_a_link_is_replaced_once_for_each_idempotency_key(client: httpx2.AsyncClient, tenant: Tenant) -> None:
    card = await tenant.card()
    first = await url(client, card.id)
    second = await url(client, card.id, "once", replace=True)
    assert second != first
    assert await url(client, card.id, "once", replace=True) == second
    assert await url(client, card.id) == second
    async with tenant.db.autocommit() as tx:
        noted = await tx.rows(
            "SELECT actor FROM audit_log WHERE organization_id = $1 AND subject_id = $2 AND action = 'link changed'",
            tenant.id, card.id,
        )  # fmt: skip
    assert len(noted) == 1


async def test_no_stored_answer_has_the_secret(client: httpx2.AsyncClient, tenant: Tenant) -> None:
    """Not under the idempotency key, nor in the request log, nor in the audit log, nor in a message."""
    card = await tenant.card()
    secret = (await url(client, card.id, "kept", replace=True)).rpartition("/")[2]
    async with tenant.db.autocommit() as tx:
        for table in ("idempotency", "request_log", "audit_log", "webhook_event", "card_link"):
            rows = await tx.rows(f"SELECT x::text AS row FROM {table} x WHERE organization_id = $1", tenant.id)  # pyright: ignore[reportArgumentType]
            assert not [row for row in rows if secret in row["row"] or secret.encode().hex() in row["row"]], table


async def test_a_revoked_card_has_none(client: httpx2.AsyncClient, tenant: Tenant) -> None:
    card = await tenant.card()
    await url(client, card.id)
    await tenant.move_card(card, CardStatus.SUSPENDED)
    await url(client, card.id)
    await tenant.move_card(card, CardStatus.REVOKED)
    assert_error(await link(client, card.id), 422, "card_revoked")
    assert_error(await link(client, card.id, replace=True), 422, "card_revoked")


async def test_what_is_not_a_card_or_a_body_is_refused(client: httpx2.AsyncClient, tenant: Tenant) -> None:
    card = await tenant.card()
    for id in (uuid4(), "x"):
        assert_error(await link(client, id), 404, "card_not_found")
    for value in ("true", 1, None, []):
        assert_error(await link(client, card.id, replace=value), 400, "invalid_request", param="replace")


async def test_it_needs_the_scope_of_its_own_organization(api: Api, tenant: Tenant) -> None:
    card = await tenant.card()
    reader = api.client((await tenant.key(Scope.CARDS_READ, Scope.CARDS_VERIFY)).text)
    assert_error(await link(reader, card.id), 403, "insufficient_scope")
