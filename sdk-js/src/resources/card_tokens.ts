/** Card tokens: the codes that a participant's app shows. None is ever stored, and a retry signs it again. */

import { newKey, path, type Time, withoutNone } from "../arguments.js";
import { cut } from "../batches.js";
import { dataAs, list } from "../decode.js";
import type { Exchange } from "../http/exchange.js";
import { type CardToken, type CardTokenResult, cardToken, cardTokenResult } from "../models/card.js";
import { type Once, paired } from "./options.js";

export interface TokenOptions extends Once {
  expires_at?: Time | null | undefined;
}

/** The key needs the scope `cards:write`. A token lives 24 hours if nothing is said, and 400 days at most. */
export class CardTokens {
  readonly #exchange: Exchange;

  constructor(exchange: Exchange) {
    this.#exchange = exchange;
  }

  /** A token for this card. */
  create(card_id: string, { expires_at, idempotency_key }: TokenOptions = {}): Promise<CardToken> {
    return this.#exchange.ask({
      method: "POST",
      path: path("/cards", card_id, "token"),
      read: dataAs(cardToken),
      body: withoutNone({ expires_at }),
      idempotency_key: newKey(idempotency_key),
    });
  }

  /** Tokens for at most 1,000 cards, in their order. A card that gets none harms no other. */
  batch(
    cards: readonly string[],
    { expires_at, idempotency_key }: TokenOptions = {},
  ): Promise<readonly CardTokenResult[]> {
    return this.#exchange.ask({
      method: "POST",
      path: "/card-tokens",
      read: dataAs(list(cardTokenResult)),
      body: withoutNone({ cards, expires_at }),
      idempotency_key: newKey(idempotency_key),
    });
  }

  /** Tokens for any number of cards, in batches: each card with its result. */
  async *createAll(
    cards: Iterable<string> | AsyncIterable<string>,
    { expires_at }: { expires_at?: Time | null | undefined } = {},
  ): AsyncGenerator<[card: string, result: CardTokenResult], void, undefined> {
    for await (const some of cut(cards)) yield* paired(some, await this.batch(some, { expires_at }));
  }
}
