/** Messages about cards. None holds a holder's data. */

import { list, maybe, moment, shape, text } from "../decode.js";
import { type Message, message } from "./message.js";

export interface ChangedCardStatus {
  card_id: string;
  card_number: string;
  previous_status: string;
  status: string;
  changed_at: string;
  reason: string | null;
}

/** A card was suspended, resumed or revoked. */
export type CardStatusChanged = Message<"card.status_changed", ChangedCardStatus>;

export interface IssuedCard {
  card_id: string;
  card_number: string;
  status: string;
  external_id: string | null;
  issued_at: string;
}

/** A card was made. */
export type CardIssued = Message<"card.issued", IssuedCard>;

/** `card_id` is the old card, which is revoked. */
export interface ReplacedCard {
  card_id: string;
  card_number: string;
  new_card_id: string;
  new_card_number: string;
  external_id: string | null;
  replaced_at: string;
  reason: string | null;
}

/** A new card took the place of a lost one. */
export type CardReplaced = Message<"card.replaced", ReplacedCard>;

/** `changed` names what was changed. */
export interface UpdatedCard {
  card_id: string;
  card_number: string;
  external_id: string | null;
  changed: readonly string[];
  updated_at: string;
}

/** A card got an external id, or its holder was corrected or erased. */
export type CardUpdated = Message<"card.updated", UpdatedCard>;

const CARD = { card_id: text, card_number: text };

export const cardStatusChanged = message<"card.status_changed", ChangedCardStatus>(
  shape({ ...CARD, previous_status: text, status: text, changed_at: moment, reason: maybe(text) }),
);
export const cardIssued = message<"card.issued", IssuedCard>(
  shape({ ...CARD, status: text, external_id: maybe(text), issued_at: moment }),
);
export const cardReplaced = message<"card.replaced", ReplacedCard>(
  shape({
    ...CARD,
    new_card_id: text,
    new_card_number: text,
    external_id: maybe(text),
    replaced_at: moment,
    reason: maybe(text),
  }),
);
export const cardUpdated = message<"card.updated", UpdatedCard>(
  shape({ ...CARD, external_id: maybe(text), changed: list(text), updated_at: moment }),
);
