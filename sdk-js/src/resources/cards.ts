/** Cards: registered, changed, replaced; tokens verified online, and the keys to verify them offline. */

import { changes, newKey, path, withoutNone } from "../arguments.js";
import { dataAs, versionedAs } from "../decode.js";
import type { Exchange } from "../http/exchange.js";
import { type PageOptions, Pages } from "../http/pages.js";
import { type Card, type CardLink, type CardVerification, card, cardLink, cardVerification } from "../models/card.js";
import { CardKeys } from "../tokens.js";
import { type Changed, type HolderDetails, ifMatch, type Once } from "./options.js";

export interface NewCard extends Once {
  holder?: HolderDetails | null | undefined;
  /** Else the card gets one. */
  number?: string | null | undefined;
  external_id?: string | null | undefined;
}

export interface CardFilter extends PageOptions {
  number?: string | null | undefined;
  email?: string | null | undefined;
  external_id?: string | null | undefined;
}

export interface Reason extends Once {
  reason: string;
}

const ROOT = "/cards";
const read = versionedAs(card);

/** The key needs the scope `cards:verify` to verify, `cards:read` to read, and `cards:write` to change. */
export class Cards {
  readonly #exchange: Exchange;

  constructor(exchange: Exchange) {
    this.#exchange = exchange;
  }

  /** Verify a card token. No ticket is activated. */
  verify(token: string): Promise<CardVerification> {
    const whole = ({ value }: { value: unknown }): CardVerification => cardVerification(value);
    return this.#exchange.ask({ method: "GET", path: "/card/verify", read: whole, query: { token } });
  }

  /** The organization's public keys. With them, tokens can be verified without a network. */
  keys(): Promise<CardKeys> {
    const is_sandbox = this.#exchange.settings.is_sandbox;
    const read = ({ value }: { value: unknown }): CardKeys => CardKeys.of(value, { is_sandbox });
    return this.#exchange.ask({ method: "GET", path: "/card/keys", read });
  }

  /** Register a card: a new one, or the one that this person has. */
  create({ idempotency_key, ...fields }: NewCard = {}): Promise<Card> {
    return this.#post(ROOT, withoutNone(fields), idempotency_key);
  }

  /** Cards: the one with this number or external id, those of this person, or all, newest first. */
  list(options: CardFilter = {}): Pages<Card> {
    return new Pages(this.#exchange, ROOT, card, options);
  }

  /** One card with its holder. */
  retrieve(card_id: string): Promise<Card> {
    return this.#exchange.ask({ method: "GET", path: path(ROOT, card_id), read });
  }

  /** Correct the given fields of the holder; null erases the holder. `if_match` as for an event. */
  update(
    card_id: string,
    { if_match, ...fields }: Changed & { holder?: HolderDetails | null | undefined },
  ): Promise<Card> {
    const body = changes(fields);
    return this.#exchange.ask({ method: "PATCH", path: path(ROOT, card_id), read, body, ...ifMatch(if_match) });
  }

  /** Gates refuse the card until it is resumed. */
  suspend(card_id: string, { reason, idempotency_key }: Reason): Promise<Card> {
    return this.#post(path(ROOT, card_id, "suspend"), { reason }, idempotency_key);
  }

  /** Gates take the card again. */
  resume(card_id: string, { reason, idempotency_key }: Reason): Promise<Card> {
    return this.#post(path(ROOT, card_id, "resume"), { reason }, idempotency_key);
  }

  /** Gates refuse the card, for good. */
  revoke(card_id: string, { reason, idempotency_key }: Reason): Promise<Card> {
    return this.#post(path(ROOT, card_id, "revoke"), { reason }, idempotency_key);
  }

  /** The new card, which takes over the holder, the external id and unused tickets; the old one is revoked. */
  replace(card_id: string, { reason, idempotency_key }: Reason): Promise<Card> {
    return this.#post(path(ROOT, card_id, "replace"), { reason }, idempotency_key);
  }

  /** The link of the card's page, always the same; with `replace` a new one, and the old one shows nothing. */
  link(card_id: string, { replace = false, idempotency_key }: Once & { replace?: boolean } = {}): Promise<CardLink> {
    return this.#exchange.ask({
      method: "POST",
      path: path(ROOT, card_id, "link"),
      read: dataAs(cardLink),
      body: { replace },
      idempotency_key: newKey(idempotency_key),
    });
  }

  #post(path: string, body: object, key: string | null | undefined): Promise<Card> {
    return this.#exchange.ask({ method: "POST", path, read, body, idempotency_key: newKey(key) });
  }
}
