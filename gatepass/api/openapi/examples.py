"""Examples, made by the code that answers: the page shows the answers of the sandbox."""

from datetime import UTC, datetime
from typing import Any, Final

from nacl.signing import SigningKey

from gatepass.api.responses import body_of
from gatepass.api.routes.cards import PublicKeyOut, PublicKeysOut
from gatepass.api.routes.cards import written as verification
from gatepass.api.routes.events import EventOut
from gatepass.api.routes.scan_list import RecordedScanOut
from gatepass.api.schemas import Data, Page, written_cursor
from gatepass.base.clock import rfc3339
from gatepass.base.errors import Refusal
from gatepass.base.paging import Place
from gatepass.base.wire_constants import TOKEN_PREFIX
from gatepass.domain import sandbox
from gatepass.domain.cards import INVALID, PublicKey
from gatepass.domain.cards.token import sign
from gatepass.domain.events import DoorsClosed
from gatepass.domain.message_catalogue import CARD_NUMBER
from gatepass.domain.tickets import AlreadyActivated, OutsideWindow, WrongGate

Json = dict[str, Any]

# This private key is public; it only makes the example token verify with the example public key.
EXAMPLE_KEY: Final = SigningKey(bytes(32))
EXAMPLE_KEY_ID: Final = sandbox.CARD_IDS["TEST_VALID"]
TOKEN: Final = sign(CARD_NUMBER, datetime(2030, 6, 16, tzinfo=UTC), EXAMPLE_KEY)
CURSOR: Final = written_cursor(Place(sandbox.CATALOGUE_ENTRY.event.starts_at, sandbox.EVENT_ID))
EVENT: Final = EventOut.of(sandbox.CATALOGUE_ENTRY, "", "a")


def example(summary: str, value: object) -> Json:
    return {"summary": summary, "value": value}


def sandbox_token(card: str) -> str:
    return f"{TOKEN_PREFIX}.{card}.0.0"


def refused(refusals: list[Refusal]) -> Json:
    """One example for each refusal, by its code, and by its parameter where a code occurs more than once."""
    codes = [refusal.code for refusal in refusals]
    return {
        refusal.code if codes.count(refusal.code) == 1 else f"{refusal.code} {refusal.param}": example(
            str(refusal), body_of(refusal)
        )
        for refusal in refusals
    }


def _verified(summary: str, card: str | None) -> Json:
    return example(summary, verification(sandbox.verify(card) if card else INVALID))


def _scanned(summary: str, card: str) -> Json:
    given = sandbox.CARDS[card]
    data = {"ticket_id": str(given.ticket_id), "tier": given.tier, "category_name": given.category_name}
    return example(summary, {"data": data})


def _scan(summary: str, **body: str) -> Json:
    return example(summary, {"event_id": str(sandbox.EVENT_ID), **body})


EVENTS: Final = {
    "sandbox": example(
        "The sandbox's fictional event", Page(data=[EVENT], has_more=False, next_cursor=None).model_dump(mode="json")
    ),
    "more": example(
        "A page with another behind it", Page(data=[EVENT], has_more=True, next_cursor=CURSOR).model_dump(mode="json")
    ),
}

ONE_EVENT: Final = {"sandbox": example("The sandbox's fictional event", Data(data=EVENT).model_dump(mode="json"))}

VERIFICATIONS: Final = {
    "valid": _verified("A good token", "TEST_VALID"),
    "expired": _verified("An expired token", "TEST_EXPIRED"),
    "revoked": _verified("A good token of a revoked card", "TEST_REVOKED"),
    "suspended": _verified("A good token of a suspended card", "TEST_SUSPENDED"),
    "invalid": _verified("Not a token of this organization", None),
}

PUBLIC_KEYS: Final = {
    "live": example(
        "One signing key",
        PublicKeysOut(
            keys=[PublicKeyOut.of(PublicKey(EXAMPLE_KEY_ID, bytes(EXAMPLE_KEY.verify_key)))],
        ).model_dump(mode="json"),
    ),
    "sandbox": example("A sandbox that has signed no token yet", PublicKeysOut(keys=[]).model_dump(mode="json")),
}

SCANS: Final = {
    "sandbox card": _scan("A sandbox card that is let in", card_number="TEST_VALID"),
    "sandbox VIP": _scan("A sandbox card with a VIP ticket", card_number="TEST_VIP"),
    "sandbox used": _scan("A sandbox card that was used before", card_number="TEST_USED"),
    "sandbox expired": _scan("A sandbox card whose token has expired", card_number="TEST_EXPIRED"),
    "sandbox revoked": _scan("A sandbox card that was revoked", card_number="TEST_REVOKED"),
    "sandbox token": _scan("A sandbox token", token=sandbox_token("TEST_VALID")),
    "live card": _scan(
        "A card number typed in at a gate", card_number=CARD_NUMBER, gate="North 2", scanner_id="handheld-17"
    ),
    "live token": _scan("A card token, scanned", token=TOKEN, gate="North 2", scanner_id="handheld-17"),
}

ALREADY_ACTIVATED: Final = AlreadyActivated(
    activated_at=rfc3339(EVENT.starts_at), gate="North 2", scanner_id="handheld-17"
)
DOORS_CLOSED: Final = DoorsClosed(doors_open_at=rfc3339(EVENT.starts_at))
OUTSIDE_WINDOW: Final = OutsideWindow(valid_from=rfc3339(EVENT.starts_at), valid_until=None)
WRONG_GATE: Final = WrongGate(gates=["North 1", "North 2"])
# Refusals whose sandbox answer differs from the live example.
IN_THE_SANDBOX: Final[dict[type[Refusal], Refusal]] = {
    AlreadyActivated: AlreadyActivated(activated_at=rfc3339(sandbox.USED_AT), gate=None, scanner_id=None)
}

RECORDED_SCANS: Final = {
    "refused": example(
        "A card that was used before",
        Page(
            data=[
                RecordedScanOut(
                    id=sandbox.EVENT_ID,
                    scanned_at=EVENT.starts_at,
                    event_id=sandbox.EVENT_ID,
                    card_number="TEST_USED",
                    card_id=None,
                    ticket_id=sandbox.CARDS["TEST_USED"].ticket_id,
                    verdict=AlreadyActivated.code,
                    gate="North 2",
                    scanner_id="handheld-17",
                    occurred_at=None,
                    cursor=CURSOR,
                )
            ],
            has_more=False,
            next_cursor=None,
        ).model_dump(mode="json"),
    )
}

SCANNED: Final = {
    "TEST_VALID": _scanned("A standard ticket", "TEST_VALID"),
    "TEST_VIP": _scanned("A VIP ticket", "TEST_VIP"),
}
