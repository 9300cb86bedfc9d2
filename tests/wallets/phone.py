"""A phone with Apple Wallet, as far as our service sees one."""

import secrets
from dataclasses import dataclass, field
from typing import Any

import httpx2

from tests.wallets import pkpass
from tests.wallets.authority import PASS_TYPE


@dataclass
class Phone:
    """It takes passes from card pages, and asks their own service for newer ones."""

    client: httpx2.AsyncClient
    device: str = field(default_factory=lambda: secrets.token_hex(16))
    push_token: str = "push-token-1"
    passes: dict[str, dict[str, Any]] = field(default_factory=dict[str, dict[str, Any]])
    last_modified: dict[str, str] = field(default_factory=dict[str, str])
    tag: str | None = None

    async def take(self, page: str) -> dict[str, Any]:
        """Take the pass that this card's page offers."""
        state = (await self.client.get(page + "/state")).json()
        answer = await self.client.get(state["wallets"]["apple"])
        assert answer.status_code == 200, answer.text
        assert answer.headers["content-type"] == "application/vnd.apple.pkpass"
        return self._keep(answer)

    async def register(self, serial: str, token: str | None = None) -> int:
        answer = await self.client.post(
            self._registration(serial), json={"pushToken": self.push_token}, headers=self._header(serial, token)
        )
        return answer.status_code

    async def unregister(self, serial: str, token: str | None = None) -> int:
        answer = await self.client.delete(self._registration(serial), headers=self._header(serial, token))
        return answer.status_code

    async def changed(self) -> list[str]:
        """The serial numbers that changed since this phone asked last."""
        params = {"passesUpdatedSince": self.tag} if self.tag else {}
        service = next(iter(self.passes.values()))["webServiceURL"]
        answer = await self.client.get(f"{service}/v1/devices/{self.device}/registrations/{PASS_TYPE}", params=params)
        if answer.status_code == 204:
            return []
        assert answer.status_code == 200, answer.text
        self.tag = answer.json()["lastUpdated"]
        return answer.json()["serialNumbers"]

    async def fetch(self, serial: str, token: str | None = None) -> int:
        """Fetch the pass anew, unless it is as this phone has it."""
        since = self.last_modified.get(serial)
        headers = {**self._header(serial, token), **({"if-modified-since": since} if since else {})}
        answer = await self.client.get(f"{self._service(serial)}/v1/passes/{PASS_TYPE}/{serial}", headers=headers)
        if answer.status_code == 200:
            self._keep(answer)
            self.last_modified[serial] = answer.headers["last-modified"]
        return answer.status_code

    def _keep(self, answer: httpx2.Response) -> dict[str, Any]:
        content = pkpass.content(answer.content)
        self.passes[content["serialNumber"]] = content
        return content

    def _service(self, serial: str) -> str:
        return self.passes[serial]["webServiceURL"]

    def _registration(self, serial: str) -> str:
        return f"{self._service(serial)}/v1/devices/{self.device}/registrations/{PASS_TYPE}/{serial}"

    def _header(self, serial: str, token: str | None) -> dict[str, str]:
        return {"authorization": f"ApplePass {token or self.passes[serial]['authenticationToken']}"}
