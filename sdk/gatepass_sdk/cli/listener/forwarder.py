"""The forwarder: it posts a message to a receiver on this machine, with the signature and headers of the service."""

import hmac
import time
from base64 import b64decode, b64encode
from collections.abc import Iterator
from dataclasses import dataclass
from secrets import token_bytes
from typing import Final
from uuid import NAMESPACE_URL, uuid5

import httpx2

from gatepass_sdk._version import __version__
from gatepass_sdk.cli.listener.feed import RawMessage
from gatepass_sdk.webhooks import sign

PREFIX: Final = "whsec_"
# The same as the deadline of the service.
DEADLINE: Final = 15.0
# A receiver that is being restarted is back by then.
WAITS: Final = (0.5, 1.0, 2.0)


@dataclass(frozen=True, slots=True)
class ForwardAttempt:
    n: int
    status: int | None
    error: str | None
    milliseconds: float
    again_in: float | None = None

    @property
    def succeeded(self) -> bool:
        return self.status is not None and 200 <= self.status < 300


class Forwarder:
    def __init__(self, url: str, secret: str) -> None:
        self._url = url
        self._secret = secret
        # As the service does: no redirect, no cookie, no proxy.
        self._http = httpx2.Client(timeout=DEADLINE, follow_redirects=False, trust_env=False)

    def forward(self, message: RawMessage) -> Iterator[ForwardAttempt]:
        """Each attempt as it ends, until one succeeds or the last wait is over."""
        for n, wait in enumerate([*WAITS, None], 1):
            attempt = self._attempt(message, n, wait)
            yield attempt
            if attempt.succeeded or wait is None:
                return
            time.sleep(wait)

    def _attempt(self, message: RawMessage, n: int, wait: float | None) -> ForwardAttempt:
        headers = signed(message, self._secret, delivery_id=_delivery_id(self._url, message), attempt=n, at=time.time())
        began, status, error = time.perf_counter(), None, None
        try:
            with self._http.stream("POST", self._url, content=message.body, headers=headers) as answer:
                status = answer.status_code
        except httpx2.TransportError as failure:
            error = _error_text(failure)
        succeeded = status is not None and 200 <= status < 300
        took = round((time.perf_counter() - began) * 1000, 1)
        return ForwardAttempt(n, status, error, took, None if succeeded else wait)

    def close(self) -> None:
        self._http.close()


def signed(message: RawMessage, secret: str, *, delivery_id: str, attempt: int, at: float) -> dict[str, str]:
    """All headers of a delivery."""
    seconds = int(at)
    content = f"{message.id}.{seconds}.".encode() + message.body
    standard = hmac.digest(b64decode(secret.removeprefix(PREFIX)), content, "sha256")
    return {
        "content-type": "application/json",
        "user-agent": f"gatepass-cli/{__version__}",
        "x-svc-event": message.type,
        "x-svc-signature": sign(message.body, secret, at=at),
        "x-svc-delivery": delivery_id,
        "x-svc-attempt": str(attempt),
        "webhook-id": message.id,
        "webhook-timestamp": str(seconds),
        "webhook-signature": "v1," + b64encode(standard).decode(),
    }


def new_secret() -> str:
    return PREFIX + b64encode(token_bytes(32)).decode()


def _delivery_id(url: str, message: RawMessage) -> str:
    """The same id for the same message and URL, also after a restart."""
    return str(uuid5(NAMESPACE_URL, f"{url}#{message.id}"))


def _error_text(failure: httpx2.TransportError) -> str:
    if isinstance(failure, httpx2.TimeoutException):
        return f"no answer within {DEADLINE:.0f} s"
    return "nothing listens there" if isinstance(failure, httpx2.ConnectError) else "the connection broke"
