"""The state of `listen` between two starts: its secret and its cursor."""

from dataclasses import dataclass, field
from typing import Any, Self

from gatepass_sdk.cli import profiles
from gatepass_sdk.cli.listener.forwarder import new_secret
from gatepass_sdk.cli.profiles import Identity


@dataclass
class ListenState:
    """`done` are the ids of the messages after the cursor that were shown already."""

    identity: Identity
    secret: str = field(repr=False)
    cursor: str | None = None
    done: list[str] = field(default_factory=list[str])

    @classmethod
    def of(cls, identity: Identity) -> Self:
        stored = profiles.read_json(_file(identity))
        # With the cursor of another key, messages would be skipped.
        is_ours = stored.get("fingerprint") == identity.fingerprint
        return cls(
            identity,
            secret=stored.get("secret") or new_secret(),
            cursor=stored.get("cursor") if is_ours else None,
            done=stored.get("done", []) if is_ours else [],
        )

    def advance(self, cursor: str | None) -> None:
        self.cursor, self.done = cursor, []
        self._save()

    def mark_done(self, message_id: str) -> None:
        self.done.append(message_id)
        self._save()

    def _save(self) -> None:
        known: dict[str, Any] = {"secret": self.secret, "cursor": self.cursor, "done": self.done}
        profiles.write_private(_file(self.identity), {**known, "fingerprint": self.identity.fingerprint})


def _file(identity: Identity) -> Any:
    return profiles.config_folder() / "listen" / f"{identity.profile or identity.fingerprint}.json"
