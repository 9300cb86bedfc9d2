"""Pairing: a device shows its public key for a code, a person compares two words, the device fetches its API key.

The words are made of the code, the public key and the request, and computed here: whoever stands between the device and
the service shows other words, or has another key.
"""

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from email.utils import parsedate_to_datetime
from typing import Any, Final

import httpx2

from gatepass_sdk._arguments import format_time, segment
from gatepass_sdk._base64url import encoded
from gatepass_sdk._call import Answer
from gatepass_sdk._gate.calls import APP
from gatepass_sdk._gate.clock import GateClock
from gatepass_sdk._gate.signing import DeviceKey, two_words
from gatepass_sdk._retry import refusal_of
from gatepass_sdk._settings import checked_base_url
from gatepass_sdk._transport import send
from gatepass_sdk.errors import APIConnectionError, APIStatusError, ConfigurationError, PairingEnded

API_PATH: Final = "/api/public/v1"
TRY_SECONDS: Final = 5.0
# How often the device asks whether it was confirmed.
ASK_SECONDS: Final = 2.0
# A code lives for 10 minutes; the clocks of both may differ.
GIVE_UP_SECONDS: Final = 660.0

# Called with the two words as soon as they are known, so that they can be shown.
OnWords = Callable[[tuple[str, str]], None]


@dataclass(frozen=True, slots=True)
class Paired:
    """The device as the service has it, and its API key."""

    device: Mapping[str, Any]
    api_key: str

    def __repr__(self) -> str:
        """Without the key, so that it does not get into a log."""
        return f"Paired({self.device.get('id')!r})"


class PairingClient:
    def __init__(self, url: str, key: DeviceKey, clock: GateClock, http: httpx2.Client, *, allow_http: bool) -> None:
        self.root = root_of(url, allow_http=allow_http)
        self._key = key
        self._clock = clock
        self._http = http

    def pair(self, code: str, name: str, on_words: OnWords | None) -> Paired:
        """Ask, show the words, and wait until a person has confirmed them. Raises `PairingEnded` if nobody does."""
        ends = time.monotonic() + GIVE_UP_SECONDS
        canonical = canonical_code(code)
        asked = {"public_key": encoded(self._key.public_key), "name": name, "app": APP}
        request = str(_data(self._post(f"/gate/pair/{segment(canonical)}", asked)).get("request"))
        if on_words is not None:
            on_words(two_words(canonical, self._key.public_key, request))
        while time.monotonic() < ends:
            if (paired := self._fetch(request)) is not None:
                return paired
            time.sleep(ASK_SECONDS)
        raise PairingEnded("Nobody confirmed this device in time. Ask for another code.")

    def _fetch(self, request: str) -> Paired | None:
        """The key, if the pairing is confirmed. A lost answer is fetched again, with another key."""
        at = self._clock.now()
        signed = {"at": format_time(at), "signature": self._key.sign_fetch(request, at)}
        try:
            data = _data(self._post(f"/gate/pair/{segment(request)}/key", signed))
        except APIConnectionError:
            return None
        if data.get("status") != "paired":
            return None
        return Paired(data["device"], data["key"])

    def _post(self, path: str, body: dict[str, Any]) -> Answer:
        try:
            answer = send(self._http, self._http.build_request("POST", self.root + path, json=body), TRY_SECONDS)
        except httpx2.TransportError as error:
            raise APIConnectionError("Gatepass cannot be reached. Check the network and try again.") from error
        if not answer.is_from_service:
            raise APIConnectionError(f"Something other than Gatepass answered ({answer.status}). Check the network.")
        if answer.status >= 400:
            raise _ended(refusal_of(answer))
        self._correct_clock(answer.headers.get("date"))
        return answer

    def _correct_clock(self, date: str | None) -> None:
        """The service takes a signature of the last two minutes, and a new machine's clock may be years behind."""
        if date is not None:
            self._clock.corrected(self._clock.now() - parsedate_to_datetime(date))


def _ended(error: APIStatusError) -> APIStatusError | PairingEnded:
    if error.code in ("pairing_not_found", "pairing_ended"):
        return PairingEnded(error.message)
    return error


def _data(answer: Answer) -> dict[str, Any]:
    data = answer.value.get("data")
    return data if isinstance(data, dict) else {}


def canonical_code(code: str) -> str:
    """As the service has it: dashes and spaces do not matter, nor does the case."""
    return code.replace("-", "").replace(" ", "").upper()


def root_of(url: str, *, allow_http: bool = False) -> str:
    """The address of the service without the path of the API, which may be given too."""
    if not url:
        raise ConfigurationError("No address of the service: pass url=, such as https://gatepass.example.")
    return checked_base_url(url, allow_http=allow_http).removesuffix(API_PATH).rstrip("/")
