"""Write sdk/cases/webhooks.json: signed messages, good and bad, that every receiver must answer alike.

The service's own code signs, and the secrets and times are fixed, so that the file comes out the same each time. A case
has the body, the headers, the secret and the second at which the message comes, and what must be said of it: null, or
`no_signature`, `no_match`, `too_old` or `unreadable`.
"""

import json
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final
from uuid import UUID

from gatepass.domain.webhooks.signature import Secrets, headers

FILE: Final = Path(__file__).parent.parent / "sdk" / "cases" / "webhooks.json"
SECRET: Final = "whsec_" + "A" * 43 + "="
OTHER: Final = "whsec_" + "B" * 43 + "="
THIRD: Final = "whsec_" + "C" * 43 + "="
NOW: Final = 1_790_000_000
EVENT: Final = UUID(int=7)
ACTIVATED: Final = {
    "id": "evt_1",
    "type": "ticket.activated",
    "organization_id": "org",
    "created_at": "2026-05-01T20:00:00Z",
    "data": {
        "ticket_id": "ticket",
        "event_id": "event",
        "card_number": "SVC 1234 5678 9015",
        "activated_at": "2026-05-01T20:00:00.123456Z",
        "gate": "Süd 2 🎫",
    },
}
BODY: Final = json.dumps(ACTIVATED, ensure_ascii=False)
SIGNATURES: Final = ("x-svc-signature", "x-svc-signature-next")


def signed(body: str | bytes, secret: str = SECRET, other: str | None = None, at: float = NOW) -> dict[str, str]:
    """The headers of a delivery that a receiver looks at."""
    raw = body.encode() if isinstance(body, str) else body
    found = headers(
        Secrets(secret, other),
        raw,
        event_id=EVENT,
        type="ticket.activated",
        delivery_id=EVENT,
        attempt=1,
        replayed=False,
        at=datetime.fromtimestamp(at, UTC),
    )
    return {name: value for name, value in found.items() if name in SIGNATURES}


def case(name: str, said: str | None, found: dict[str, str], body: str | bytes = BODY, **more: Any) -> dict[str, Any]:
    content = {"body": body} if isinstance(body, str) else {"body_hex": body.hex()}
    return {"name": name, **content, "headers": found, "secret": SECRET, "at": NOW, "said": said, **more}


def cases() -> list[dict[str, Any]]:
    good = signed(BODY)
    (text,) = good.values()
    time, _, digest = text.partition(",")
    rotating = signed(BODY, other=OTHER)
    stale = signed(BODY, at=NOW - 1000)["x-svc-signature"]
    other_type = json.dumps({**ACTIVATED, "type": "gate.opened", "data": {"anything": ["new"]}})
    without_data = json.dumps({**ACTIVATED, "data": {}})
    return [
        case("a good message", None, good),
        case("a type that is not known yet", None, signed(other_type), other_type),
        case("headers in capitals", None, {name.upper(): value for name, value in good.items()}),
        *(case(f"{s} seconds old", None, signed(BODY, at=NOW - s)) for s in (299, 300, -299, -300)),
        *(case(f"{s} seconds old", "too_old", signed(BODY, at=NOW - s)) for s in (301, -301, 86_400)),
        case("another secret", "no_match", signed(BODY, OTHER)),
        case("the old secret of a rotation", None, rotating),
        case("the new secret of a rotation", None, rotating, secret=OTHER),
        case("a third secret", "no_match", rotating, secret=THIRD),
        case("an old message of a rotation", "too_old", signed(BODY, other=OTHER, at=NOW - 1000), secret=OTHER),
        case("a body with one more space", "no_match", good, BODY + " "),
        case("a body with another id", "no_match", good, BODY.replace("evt_1", "evt_2")),
        case("no body", "no_match", good, ""),
        case("a newer time on an old signature", "no_match", {"x-svc-signature": f"{time},{stale.partition(',')[2]}"}),
        case("no signature", "no_signature", {"content-type": "application/json"}),
        case("an empty signature", "no_match", {"x-svc-signature": ""}),
        case("no time", "no_match", {"x-svc-signature": digest}),
        case("a time with another digit", "no_match", {"x-svc-signature": text.replace("t=1", "t=\u0661")}),
        case("a negative time", "no_match", {"x-svc-signature": text.replace("t=", "t=-")}),
        case("a signature in capitals", "no_match", {"x-svc-signature": f"{time},v1={digest[3:].upper()}"}),
        case("a signature with something after it", "no_match", {"x-svc-signature": text + ",v2=0"}),
        case("half a signature", "no_match", {"x-svc-signature": text[:-32]}),
        *(case(f"unreadable: {body[:12]!r}", "unreadable", signed(body), body) for body in ("", "x", "[]", "{}")),
        case("unreadable: not UTF-8", "unreadable", signed(b"\xff{}"), b"\xff{}"),
        case("a known type without its data", "unreadable", signed(without_data), without_data),
    ]


def written() -> str:
    return json.dumps({"cases": cases()}, indent=1, ensure_ascii=True) + "\n"


if __name__ == "__main__":
    FILE.write_text(written())
