"""The calls of a device: scans, heartbeats, uploads, manifests."""

import socket
from base64 import b64decode
from collections.abc import Callable, Generator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final, TypeVar

import httpx2

from gatepass_sdk._arguments import format_time, segment
from gatepass_sdk._call import Answer, Call
from gatepass_sdk._decode import Unreadable
from gatepass_sdk._gate.shown import ADMITTED
from gatepass_sdk._gate.storage.entry import Entry
from gatepass_sdk._retry import RetryPolicy, refusal_of
from gatepass_sdk._settings import Settings
from gatepass_sdk._sync.exchange import Exchange
from gatepass_sdk._transport import send
from gatepass_sdk._version import __version__
from gatepass_sdk.errors import (
    APIConnectionError,
    APIStatusError,
    AuthenticationError,
    DeviceRevoked,
    DeviceUnknown,
    WrongCell,
)

T = TypeVar("T")

APP: Final = f"gatepass-sdk/{__version__}"
# A guest at a door waits no longer; then the device decides.
ANSWER_SECONDS: Final = 1.5
# Two megabytes over a bad network.
MANIFEST_SECONDS: Final = 60.0
# The stream says something at least every 20 s.
SILENCE_SECONDS: Final = 45.0
JSON_SECONDS: Final = 10.0
# What the service says of a scan that it has judged, and what it says with these statuses of a call that it has not.
# `idempotency_key_reused` is a verdict: the scan was uploaded before this try of it came, and used no ticket.
VERDICT_STATUSES: Final = frozenset({400, 404, 409, 410, 422})
NOT_JUDGED: Final = frozenset({"invalid_request", "not_found"})
MANIFEST: Final = "application/vnd.gatepass.manifest"


@dataclass(frozen=True, slots=True)
class ScanAnswer:
    """The verdict of the service: `activated`, or the code of a refusal with its details."""

    verdict: str
    tier: str | None
    category: str | None
    details: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Pulse:
    """The answer to a heartbeat. Who paired the device is left out: a gate keeps no names."""

    now: datetime
    measured_ms: int | None
    device: Mapping[str, Any]
    answer_within: float


class GateCalls:
    def __init__(self, http: httpx2.Client, settings: Settings) -> None:
        self._http = http
        self._settings = settings
        policy = RetryPolicy(deadline=JSON_SECONDS, scan_deadline=ANSWER_SECONDS, try_timeout=JSON_SECONDS)
        self._exchange = Exchange(http, settings, policy)

    def scan(self, entry: Entry, within: float) -> ScanAnswer:
        """Raises what is no verdict on the card: no answer, a key that has ended, a fault."""
        exchange = self._exchange.with_policy(scan_deadline=within, try_timeout=within)
        call = Call("POST", "/scan", _ticket, body=entry.body, idempotency_key=entry.idempotency_key, is_scan=True)
        try:
            return _ask(exchange, call)
        except APIStatusError as error:
            if error.code is None or error.status not in VERDICT_STATUSES or error.code in NOT_JUDGED:
                raise
            # A code that this version does not know is a verdict too: it is red.
            return ScanAnswer(error.code, None, None, error.details)

    def heartbeat(self, at: datetime, queued: int) -> Pulse:
        body = {"at": format_time(at), "queued": queued, "app": APP}
        return _ask(self._exchange, Call("POST", "/devices/heartbeat", _pulse, body=body))

    def upload(self, entries: Sequence[Entry]) -> tuple[list[dict[str, Any]], list[list[int]]]:
        """The result of each entry, and the gaps that the service sees in the sequence."""
        body = {"entries": [entry.uploaded for entry in entries]}
        return _ask(self._exchange, Call("POST", "/scans/batch", _results, body=body))

    def card_keys(self) -> dict[str, Any]:
        return _ask(self._exchange, Call("GET", "/card/keys", _key_set))

    def manifest(self, event_id: str, after: str | None, state: str | None) -> bytes | None:
        """The manifest, or what changed in it after this cursor; None if nothing did."""
        request = self._request(f"/events/{segment(event_id)}/manifest", after)
        if state is not None:
            request.headers["If-None-Match"] = f'"{state}"'
        try:
            answer = send(self._http, request, MANIFEST_SECONDS)
        except httpx2.TransportError as error:
            raise APIConnectionError("Gatepass cannot be reached. Check the network and try again.") from error
        if answer.status == NOT_MODIFIED:
            return None
        _require_manifest(answer)
        return answer.content

    @contextmanager
    def changes(self, event_id: str, after: str) -> Generator[tuple[Generator[tuple[str, bytes]], Callable[[], None]]]:
        """The stream of changes, and what ends it from another thread.

        It has `changes` with their body, and `whole` if the manifest must be fetched again.
        """
        request = self._request(f"/events/{segment(event_id)}/manifest/stream", after)
        request.extensions = {"timeout": dict.fromkeys(("connect", "pool", "write", "read"), SILENCE_SECONDS)}
        try:
            response = self._http.send(request, stream=True, follow_redirects=False)
            try:
                if response.status_code != OK:
                    answer = Answer(response.status_code, response.headers, response.read())
                    raise _refused(answer)
                yield _events(response), lambda: _shut_down(response)
            finally:
                response.close()
        except httpx2.TransportError as error:
            raise APIConnectionError("The stream of changes broke. It is opened again.") from error

    def _request(self, path: str, after: str | None) -> httpx2.Request:
        query = None if after is None else {"after": after}
        headers = {**self._settings.headers, "Accept": "*/*"}
        return self._http.build_request("GET", self._settings.base_url + path, params=query, headers=headers)


OK: Final = 200
NOT_MODIFIED: Final = 304


def _ticket(answer: Answer) -> ScanAnswer:
    ticket = answer.value.get("data")
    if not isinstance(ticket, dict) or not isinstance(ticket.get("ticket_id"), str):
        raise Unreadable("a ticket was expected")
    return ScanAnswer(ADMITTED, ticket.get("tier"), ticket.get("category_name"), {})


def _pulse(answer: Answer) -> Pulse:
    data: Any = answer.value.get("data")
    try:
        device = data["device"]
        kept = {name: device.get(name) for name in ("id", "name", "event_id", "gate", "status")}
        within = data.get("settings", {}).get("answer_within_ms") or ANSWER_SECONDS * 1000
        return Pulse(datetime.fromisoformat(data["now"]), device.get("clock_offset_ms"), kept, within / 1000)
    except (TypeError, KeyError, ValueError, AttributeError) as error:
        raise Unreadable("a heartbeat was expected") from error


def _results(answer: Answer) -> tuple[list[dict[str, Any]], list[list[int]]]:
    data = answer.value.get("data")
    if not isinstance(data, dict) or not isinstance(data.get("results"), list):
        raise Unreadable("results were expected")
    return data["results"], data.get("missing") or []


def _key_set(answer: Answer) -> dict[str, Any]:
    if not isinstance(answer.value.get("keys"), list):
        raise Unreadable("a set of keys was expected")
    return answer.value


def _require_manifest(answer: Answer) -> None:
    if answer.status != OK or answer.headers.get("content-type", "").partition(";")[0] != MANIFEST:
        raise _refused(answer)


def _refused(answer: Answer) -> APIStatusError | APIConnectionError:
    if answer.status >= 400 and answer.is_from_service:
        return _meant(refusal_of(answer))
    return APIConnectionError(f"Something other than Gatepass answered ({answer.status}). Check the network.")


def _ask(exchange: Exchange, call: Call[T]) -> T:
    try:
        return exchange.ask(call)
    except (AuthenticationError, WrongCell) as error:
        raise _meant(error) from error


def _meant(error: APIStatusError) -> APIStatusError | DeviceUnknown:
    """A key that is not accepted may be the fault of the service that was asked: only one word says that it ended."""
    if isinstance(error, (AuthenticationError, WrongCell)) and not isinstance(error, DeviceRevoked):
        return DeviceUnknown(f"The service that answered does not know this device: {error}")
    return error


def _shut_down(response: httpx2.Response) -> None:
    """Wake the thread that reads: closing the connection would not."""
    with suppress(OSError):
        connection: socket.socket = response.extensions["network_stream"].get_extra_info("socket")
        connection.shutdown(socket.SHUT_RDWR)


def _events(response: httpx2.Response) -> Generator[tuple[str, bytes]]:
    """Server-sent events: a name and base64 of a body each."""
    name, data = "", ""
    for line in response.iter_lines():
        field, _, value = line.partition(":")
        if field == "event":
            name = value.strip()
        elif field == "data":
            data += value.strip()
        elif not line:
            if name:
                yield name, b64decode(data)
            name, data = "", ""
