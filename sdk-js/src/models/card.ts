/** Cards, their holders, and the tokens that a participant's app shows. */

import { etag, flag, maybe, moment, type OneOf, or, secretive, shape, text, type Versioned } from "../decode.js";
import { type ItemResult, itemResult } from "./item.js";

/** The person who holds a card. A companion's card carries the holder who booked for both. */
export interface Holder {
  name: string;
  email: string | null;
  locale: string | null;
  companion: boolean;
}

const holder = shape<Holder>({ name: text, email: maybe(text), locale: maybe(text), companion: flag });

export interface Card extends Versioned {
  id: string;
  number: string;
  status: OneOf<"active" | "suspended" | "revoked">;
  holder: Holder | null;
  external_id: string | null;
  issued_at: string;
  updated_at: string;
}

export const card = shape<Card>({
  id: text,
  number: text,
  status: text,
  holder: maybe(holder),
  external_id: maybe(text),
  issued_at: moment,
  updated_at: moment,
  ...etag,
});

/** The link of a card's page, which shows the holder the card and its code. Whoever has it sees the card. */
export interface CardLink {
  url: string;
}

export const cardLink = secretive(shape<CardLink>({ url: text }), "url");

/** A token that the app of a participant shows as a code. Whoever has it gets in. */
export interface CardToken {
  card_id: string;
  token: string;
  expires_at: string;
}

export const cardToken = secretive(shape<CardToken>({ card_id: text, token: text, expires_at: moment }), "token");

/** A token, or why this card gets none. */
export interface CardTokenResult extends ItemResult {
  data: CardToken | null;
}

export const cardTokenResult = itemResult(cardToken);

/** The result of verifying a card token. */
export interface CardVerification {
  valid: boolean;
  expired: boolean;
  status: OneOf<"active" | "suspended" | "revoked"> | null;
  card_number: string | null;
  issued_at: string | null;
  card_id: string | null;
  /** Why a token is not valid; null for a valid one. */
  reason: OneOf<"invalid_token" | "expired" | "card_suspended" | "card_revoked"> | null;
}

export const cardVerification = shape<CardVerification>({
  valid: flag,
  expired: flag,
  status: maybe(text),
  card_number: maybe(text),
  issued_at: maybe(moment),
  card_id: or(maybe(text), null),
  reason: or(maybe(text), null),
});
