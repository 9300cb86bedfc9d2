"""Apple's push service: an empty push, after which a phone asks what has changed. It says nothing of a card."""

import asyncio
import json
import ssl
import tempfile
from collections.abc import Sequence
from enum import StrEnum
from typing import Final
from urllib.parse import urlsplit

from cryptography.hazmat.primitives.serialization import Encoding

from gatepass.base.settings import Settings
from gatepass.domain.wallets import AppleCertificate
from gatepass.worker.wallets.http2 import Answer, ConnectionFailed, Http2Connection

BODY: Final = b"{}"
# Apple does not know the phone. Other refusals may be our own fault, and must not make us forget phones.
UNKNOWN: Final = frozenset({"BadDeviceToken", "Unregistered"})


class Outcome(StrEnum):
    TOLD = "told"
    GONE = "gone"
    REFUSED = "refused"
    FAILED = "failed"


class ApplePush:
    """One connection, kept open between pushes as Apple asks for, and opened again when it has ended."""

    def __init__(self, url: str, certificate: AppleCertificate, tls: ssl.SSLContext) -> None:
        target = urlsplit(url)
        self._host, self._port = target.hostname or "", target.port or 443
        # Of this type and of no higher priority, or Apple takes the push and phones do nothing.
        kind = [("apns-push-type", "background"), ("apns-priority", "5")]
        self._headers = [("apns-topic", certificate.pass_type), *kind]
        self._tls = tls
        self._connection: Http2Connection | None = None

    async def push_all(self, push_tokens: Sequence[str]) -> list[tuple[Outcome, str]]:
        """The outcome of each, with its reason."""
        try:
            connection = await self._connected()
        except ConnectionFailed as failed:
            return [(Outcome.FAILED, str(failed))] * len(push_tokens)
        return await asyncio.gather(*(self._push(connection, token) for token in push_tokens))

    async def close(self) -> None:
        if self._connection is not None:
            await self._connection.close()

    async def _connected(self) -> Http2Connection:
        if self._connection is None or self._connection.is_closed:
            await self.close()
            self._connection = await Http2Connection.open(self._host, self._port, self._tls)
        return self._connection

    async def _push(self, connection: Http2Connection, push_token: str) -> tuple[Outcome, str]:
        try:
            answer = await connection.post(f"/3/device/{push_token}", self._headers, BODY)
        except ConnectionFailed as failed:
            return Outcome.FAILED, str(failed)
        reason = _reason(answer)
        if answer.status == 200:
            return Outcome.TOLD, ""
        if answer.status == 410 or reason in UNKNOWN:
            return Outcome.GONE, reason
        return Outcome.REFUSED, f"{answer.status} {reason}".strip()


def push_tls(settings: Settings, certificate: AppleCertificate) -> ssl.SSLContext:
    """The pass certificate is the client's, too."""
    context = ssl.create_default_context()
    context.set_alpn_protocols(["h2"])
    with tempfile.NamedTemporaryFile(suffix=".pem") as chain:
        for one in (certificate.certificate, certificate.intermediate):
            chain.write(one.public_bytes(Encoding.PEM))
        chain.flush()
        context.load_cert_chain(chain.name, settings.apple_pass_key)
    return context


def _reason(answer: Answer) -> str:
    """A word of Apple's, such as `BadDeviceToken`; of anything else nothing is taken over."""
    try:
        reason = json.loads(answer.body)["reason"]
    except (ValueError, KeyError, TypeError):
        return ""
    return reason if isinstance(reason, str) and reason.isalnum() and len(reason) <= 60 else ""
