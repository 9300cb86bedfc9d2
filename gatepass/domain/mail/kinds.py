"""The kinds of letters. The text of each is in `letters/<kind>.txt`; participants read it in their language."""

from datetime import timedelta
from enum import StrEnum
from typing import Final


class LetterKind(StrEnum):
    CARD = "card"
    EVENT_CHANGED = "event_changed"
    EVENT_CANCELLED = "event_cancelled"
    PHONE_CODE = "phone_code"
    INVITATION = "invitation"
    SIGN_IN_LINK = "sign_in_link"
    ADDRESS_PROOF = "address_proof"
    ADDRESS_CHANGED = "address_changed"
    CREDENTIAL_ADDED = "credential_added"
    ENDPOINT_FAILING = "endpoint_failing"
    KEY_ENDING = "key_ending"

    @property
    def is_for_participants(self) -> bool:
        return self in FOR_PARTICIPANTS

    @property
    def is_urgent(self) -> bool:
        """Whether somebody waits for it. The others come by the thousand, and must not delay these."""
        return self not in MANY

    @property
    def lifetime(self) -> timedelta:
        """After this it is not sent any more: a code that has expired would only confuse."""
        return LIFETIMES.get(self, LONGEST)


# As long as mail servers themselves keep trying (RFC 5321 asks for four to five days).
LONGEST: Final = timedelta(days=4)
LIFETIMES: Final = {
    LetterKind.PHONE_CODE: timedelta(hours=1),
    LetterKind.SIGN_IN_LINK: timedelta(minutes=15),
}
FOR_PARTICIPANTS: Final = frozenset(
    {LetterKind.CARD, LetterKind.EVENT_CHANGED, LetterKind.EVENT_CANCELLED, LetterKind.PHONE_CODE}
)
MANY: Final = frozenset({LetterKind.CARD, LetterKind.EVENT_CHANGED, LetterKind.EVENT_CANCELLED})
