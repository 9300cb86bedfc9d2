/** The feed: the same messages as by webhook, to be polled. */

import type { Exchange } from "../http/exchange.js";
import { Pages } from "../http/pages.js";
import { eventOf, type WebhookEvent } from "../messages.js";

export class WebhookEvents {
  readonly #exchange: Exchange;

  constructor(exchange: Exchange) {
    this.#exchange = exchange;
  }

  /** Messages up to now, oldest first. Store a page's `next_cursor`, and continue with `after` later. */
  list(options: { after?: string | null | undefined; limit?: number | null | undefined } = {}): Pages<WebhookEvent> {
    return new Pages(this.#exchange, "/webhook-events", eventOf, options, "after");
  }
}
