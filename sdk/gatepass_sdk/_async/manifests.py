"""The manifest of a device's event, and what changes in it."""

from base64 import b64decode
from binascii import Error as NotBase64
from collections.abc import AsyncIterator, Iterable
from typing import TYPE_CHECKING

from gatepass_sdk._arguments import segment
from gatepass_sdk._call import NOT_MODIFIED, Answer, Call
from gatepass_sdk._decode import Unreadable
from gatepass_sdk._gate.manifest import InvalidManifest, Manifest, is_whole

if TYPE_CHECKING:
    from gatepass_sdk._async.exchange import AsyncExchange


class AsyncManifests:
    """Only the key of a device opens them. `keys` are the organization's public keys: `cards.keys().keys`."""

    def __init__(self, exchange: "AsyncExchange") -> None:
        self._exchange = exchange

    async def fetch(self, event_id: str, keys: Iterable[bytes]) -> Manifest:
        """The whole manifest, verified."""
        body = await self._exchange.ask(Call("GET", _path(event_id), _body))
        return Manifest.read(body or b"", tuple(keys), event_id=event_id)

    async def update(self, manifest: Manifest, keys: Iterable[bytes]) -> Manifest:
        """The manifest as it is now: this one, if nothing changed; else with the changes, or a whole new one."""
        header, trusted = manifest.header, tuple(keys)
        query, known = {"after": header.cursor}, f'"{header.state}"'
        body = await self._exchange.ask(Call("GET", _path(header.event.id), _body, query=query, if_none_match=known))
        if body is None:
            return manifest
        if is_whole(body):
            return Manifest.read(body, trusted, event_id=header.event.id)
        try:
            return manifest.apply(body, trusted)
        except InvalidManifest:
            return await self.fetch(header.event.id, trusted)

    async def follow(self, manifest: Manifest, keys: Iterable[bytes]) -> AsyncIterator[Manifest]:
        """Each new state of the manifest, as the service tells it: within two seconds of a scan.

        It ends when the connection does, or when only a whole manifest will do: then call `update`, and follow again.
        """
        trusted = tuple(keys)
        path = _path(manifest.header.event.id) + "/stream"
        async for name, data in self._exchange.following(path, {"after": manifest.header.cursor}):
            if name != "changes":
                return
            try:
                manifest = manifest.apply(b64decode(data, validate=True), trusted)
            except (InvalidManifest, NotBase64):
                return
            yield manifest


def _path(event_id: str) -> str:
    return f"/events/{segment(event_id)}/manifest"


def _body(answer: Answer) -> bytes | None:
    """The bytes of a manifest; None if nothing changed."""
    if answer.status == NOT_MODIFIED:
        return None
    if not answer.content.startswith(b"SVCM"):
        raise Unreadable("a manifest was expected")
    return answer.content
