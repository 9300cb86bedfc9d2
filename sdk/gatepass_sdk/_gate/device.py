"""The device of a gate as the service knows it: its assignment, its API key, and whether it may still admit."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, replace
from typing import Any, Final

PAIRED: Final = "paired"
RETIRED: Final = "retired"
REVOKED: Final = "revoked"


@dataclass(frozen=True, slots=True)
class Device:
    """`status` is `paired`, `retired` (it only uploads) or `revoked` (nothing until it is paired again)."""

    id: str
    name: str
    event_id: str
    gate: str
    status: str
    url: str
    api_key: str = field(repr=False)
    allow_http: bool = False

    @classmethod
    def of(cls, known: Mapping[str, Any], *, url: str, api_key: str, allow_http: bool = False) -> "Device":
        """From the service's answer. Who paired it is left out: a gate keeps no names of people."""
        fields = {name: str(known[name]) for name in ("id", "name", "event_id", "gate")}
        return cls(**fields, status=PAIRED, url=url, api_key=api_key, allow_http=allow_http)

    @property
    def admits(self) -> bool:
        return self.status == PAIRED

    @property
    def scanner_id(self) -> str:
        return self.name[:LONGEST_SCANNER]

    def moved(self, known: Mapping[str, Any]) -> "Device":
        """With what the service says about it now."""
        return replace(
            self,
            name=str(known.get("name") or self.name),
            event_id=str(known.get("event_id") or self.event_id),
            gate=str(known.get("gate") or self.gate),
            status=str(known.get("status") or self.status),
        )

    def to_json(self) -> dict[str, Any]:
        return asdict(self)


# The service takes no longer one.
LONGEST_SCANNER: Final = 64
