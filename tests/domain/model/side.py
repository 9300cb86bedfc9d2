"""One side of an organization, live or its sandbox twin: a tenant with a model, cards and a signer of tokens."""

from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Final
from uuid import UUID

from gatepass.base.ids import new_id
from gatepass.domain import cards, sandbox
from gatepass.domain.cards import Card, PublicKey, Signer
from gatepass.domain.keys import Mode
from gatepass.domain.tickets import Scan
from tests.domain.model.model import Intent, Model
from tests.domain.model.organization import T0
from tests.domain.model.strategies import TOKEN_LIFE, UNKNOWN

NOWHERE: Final = UUID(int=7)
TEST_CARDS: Final = ("TEST_VALID", "TEST_USED", "TEST_REVOKED", "TEST")


@dataclass
class Side:
    """`id` has its rows; keys, calls and idempotency keys are those of `organization_id`."""

    mode: Mode
    id: UUID
    organization_id: UUID
    key_id: UUID
    sign: Signer
    public: list[PublicKey]
    model: Model
    cards: list[Card] = field(default_factory=list[Card])

    def card(self, place: int) -> Card:
        return self.cards[place % len(self.cards)]

    def event(self, place: int) -> UUID:
        return [*self.model.events][place % len(self.model.events)]

    def ticket(self, place: int) -> UUID:
        return [*self.model.tickets][place % len(self.model.tickets)]

    def token(self, number: str, life: str) -> str:
        return self.sign(number, T0 + TOKEN_LIFE[life])

    def presented(self, intent: Intent) -> Scan:
        event_id = NOWHERE if intent.event == UNKNOWN else self.event(intent.event)
        occurred_at = None if intent.occurred is None else T0 + timedelta(hours=intent.occurred)
        number, shown, expired, fresh = self._shown(intent, occurred_at or self.model.now)
        if intent.of_test_card:
            event_id = NOWHERE if intent.event == UNKNOWN else sandbox.EVENT_ID
            number = shown = TEST_CARDS[intent.card % len(TEST_CARDS)]
        return Scan(
            request_id=new_id(),
            organization_id=self.organization_id,
            mode=Mode.SANDBOX if intent.of_test_card else self.mode,
            key_id=self.key_id,
            address=None,
            elapsed_us=1,
            idempotency_key=intent.idempotency_key,
            event_id=event_id,
            card_number=number,
            shown=shown,
            expired=expired and not intent.of_test_card,
            gate=intent.gate,
            scanner_id=f"{intent.gate} 1" if intent.gate else None,
            occurred_at=occurred_at,
            fresh=fresh and not intent.of_test_card,
            given=sandbox.judge(number) if event_id == sandbox.EVENT_ID else None,
        )

    def _shown(self, intent: Intent, at: datetime) -> tuple[str, str, bool, bool]:
        """The card's number, the text that was shown for it, whether that had expired, and whether it ends soon."""
        number = cards.format_number("SVC", 0) if intent.card == UNKNOWN else self.card(intent.card).number
        if intent.shown in TOKEN_LIFE:
            text = self.token(number, intent.shown)
            token = cards.read_token(text, self.public)
            expired = token.is_expired(at)
            assert expired == (at >= T0 + TOKEN_LIFE[intent.shown])
            return token.card_number, text, expired, token.is_fresh(at)
        number = cards.normalize_number(number.lower().replace(" ", "-")) if intent.shown == "typed" else number
        return number, number, False, False
