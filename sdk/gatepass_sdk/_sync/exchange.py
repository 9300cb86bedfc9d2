# Made of _async/exchange.py by `make sdk-sync`. Change that one.
"""A call is made, and made again while that can help and there is time."""

import json
import random
import time
from typing import Self, TypeVar

import httpx2

from gatepass_sdk._call import Call
from gatepass_sdk._reading import Unreadable
from gatepass_sdk._retrying import Patience, Tries
from gatepass_sdk._sending import send, sleep
from gatepass_sdk._settings import Settings

T = TypeVar("T")


class Exchange:
    """What every resource asks through."""

    def __init__(self, http: httpx2.Client, settings: Settings, patience: Patience) -> None:
        self.http = http
        self.settings = settings
        self.patience = patience

    @classmethod
    def over(cls, http: httpx2.Client | None, settings: Settings) -> Self:
        """Over these connections, or over new ones."""
        return cls(http or httpx2.Client(), settings, Patience())

    def but(self, **changes: float | None) -> Self:
        """The same, with other patience."""
        return type(self)(self.http, self.settings, self.patience.but(**changes))

    def ask(self, call: Call[T]) -> T:
        """The answer to a call, or the error that says why there is none."""
        tries = Tries(call, self.patience, clock=time.monotonic, chance=random.random)
        while True:
            try:
                answer = send(self.http, self._request(call), tries.time_for_this_try)
            except httpx2.TransportError as failure:
                wait = tries.after_failure(failure)
            else:
                if not answer.is_ours:
                    wait = tries.after_stranger(answer)
                elif answer.status >= 300:
                    wait = tries.after_refusal(answer)
                else:
                    try:
                        return call.read(answer)
                    except Unreadable:
                        wait = tries.after_stranger(answer)
            self.pause(wait)

    def pause(self, seconds: float) -> None:
        """Between two tries."""
        sleep(seconds)

    def _request(self, call: Call[T]) -> httpx2.Request:
        headers = self.settings.headers
        content = None
        if call.body is not None:
            content = json.dumps(call.body).encode()
            headers["Content-Type"] = "application/json"
        if call.idempotency_key is not None:
            headers["Idempotency-Key"] = call.idempotency_key
        url = self.settings.base_url + call.path
        return self.http.build_request(call.method, url, params=call.query or None, content=content, headers=headers)
