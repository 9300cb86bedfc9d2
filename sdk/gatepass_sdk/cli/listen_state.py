"""What `listen` remembers from one start to the next: its secret, and how far it came."""

from dataclasses import dataclass, field
from typing import Any, Self

from gatepass_sdk.cli import profiles
from gatepass_sdk.cli.forwarding import new_secret
from gatepass_sdk.cli.profiles import Identity


@dataclass
class Memory:
    """`done` are the messages after the cursor that were shown already: a page is kept up message by message."""

    identity: Identity
    secret: str = field(repr=False)
    cursor: str | None = None
    done: list[str] = field(default_factory=list[str])

    @classmethod
    def of(cls, identity: Identity) -> Self:
        kept = profiles.read_json(_file(identity))
        # A cursor of another key would pass things over.
        is_ours = kept.get("fingerprint") == identity.fingerprint
        return cls(
            identity,
            secret=kept.get("secret") or new_secret(),
            cursor=kept.get("cursor") if is_ours else None,
            done=kept.get("done", []) if is_ours else [],
        )

    def go_on(self, cursor: str | None) -> None:
        self.cursor, self.done = cursor, []
        self._keep()

    def tick_off(self, message_id: str) -> None:
        self.done.append(message_id)
        self._keep()

    def _keep(self) -> None:
        known: dict[str, Any] = {"secret": self.secret, "cursor": self.cursor, "done": self.done}
        profiles.write_private(_file(self.identity), {**known, "fingerprint": self.identity.fingerprint})


def _file(identity: Identity) -> Any:
    return profiles.home() / "listen" / f"{identity.profile or identity.fingerprint}.json"
