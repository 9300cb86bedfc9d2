"""The whole way, with real processes: a phone takes a pass, the card is suspended, a push comes, the phone fetches.

`gatepass serve` and `gatepass worker` run as an operator runs them, and HAProxy speaks HTTP/2 as Apple does.
"""

from pathlib import Path

import httpx2

from gatepass.domain.cards import CardStatus
from tests import factory
from tests.card_page.links import path_of
from tests.postgres import free_port
from tests.processes import launch_worker, serve
from tests.receivers import authority
from tests.wallets.authority import apple_settings, environment
from tests.wallets.phone import Phone
from tests.wallets.push_service import push_service


async def test_a_phone_is_told_of_a_change_and_fetches_it(
    tenant: factory.Tenant, settings_env: dict[str, str], tmp_path: Path
) -> None:
    card = await tenant.card()
    page = await path_of(tenant, card)
    async with push_service(tmp_path) as apple:
        settings = {
            **settings_env,
            **environment(apple_settings(tmp_path)),
            "GATEPASS_APPLE_PUSH_URL": apple.url,
            "SSL_CERT_FILE": str(authority().pem),
        }
        server = serve(settings, free_port(), "--only", "card-page")
        worker = launch_worker(settings)
        try:
            async with httpx2.AsyncClient(base_url=server.url, timeout=60) as client:
                phone = Phone(client)
                serial = (await phone.take(page))["serialNumber"]
                assert await phone.register(serial) == 201
                await tenant.move_card(card, CardStatus.SUSPENDED)
                await apple.receiver.wait(1, 60)
                assert apple.pushed() == [phone.push_token]
                assert await phone.changed() == [serial]
                assert await phone.fetch(serial) == 200
                assert "barcodes" not in phone.passes[serial]

                await tenant.move_card(card, CardStatus.REVOKED)
                await apple.receiver.wait(2, 60)
                phone.last_modified.clear()
                assert await phone.fetch(serial) == 200
                assert phone.passes[serial]["voided"] is True
                assert await phone.unregister(serial) == 200
                assert await phone.changed() == []
            secrets = [page, serial, phone.device, phone.passes[serial]["authenticationToken"]]
            assert [line for line in server.lines + worker.lines if any(secret in line for secret in secrets)] == []
        finally:
            assert server.stop() == 0
            assert worker.stop() == 0
