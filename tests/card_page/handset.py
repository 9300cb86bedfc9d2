"""A phone that opened a card's page, for tests of what it may do."""

from base64 import urlsafe_b64encode
from typing import Any

import httpx2
from nacl.signing import SigningKey

from tests import factory
from tests.card_page.conftest import ORIGIN

FROM_THE_PAGE = {"Origin": ORIGIN, "Sec-Fetch-Site": "same-origin"}


def encoded(raw: bytes) -> str:
    return urlsafe_b64encode(raw).rstrip(b"=").decode()


class Handset:
    """A phone that opened a card's page: it signs as the page's script does."""

    def __init__(self, visitor: httpx2.AsyncClient, path: str) -> None:
        self.key = SigningKey.generate()
        self._visitor, self._path = visitor, path

    def proof(self, late: int = 0) -> dict[str, Any]:
        """Its word that it has its key; `late` seconds ago."""
        at = int(factory.now().timestamp()) - late
        signed = self.key.sign(b"svc2-enrol\0" + self._path.removeprefix("/c/").encode() + str(at).encode())
        return {"public_key": encoded(bytes(self.key.verify_key)), "proof": encoded(signed.signature), "at": at}

    def hand_over(self, to: "Handset") -> str:
        return encoded(self.key.sign(b"svc2-move\0" + bytes(to.key.verify_key)).signature)

    async def send(self, route: str, **more: Any) -> httpx2.Response:
        return await self._visitor.post(self._path + route, json=self.proof() | more, headers=FROM_THE_PAGE)


def refused(answer: httpx2.Response, status: int, code: str) -> None:
    assert (answer.status_code, answer.json()["code"]) == (status, code), answer.text
    assert answer.json()["error"]
