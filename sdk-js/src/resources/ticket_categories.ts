/** Ticket categories: the kinds of ticket of an event. `Event.ticket_categories` lists them. */

import { changes, newKey, path, type Time, withoutNone } from "../arguments.js";
import { nothing, versionedAs } from "../decode.js";
import type { Exchange } from "../http/exchange.js";
import { type TicketCategory, ticketCategory } from "../models/event.js";
import { type Changed, ifMatch, type Once } from "./options.js";

export interface NewTicketCategory extends Once {
  name: string;
  /** In major units. */
  price: number;
  currency: string;
  quantity_total: number;
  /** A short word such as `standard` or `vip`. */
  tier?: string | null | undefined;
  /** Its tickets open the gate from then on, … */
  valid_from?: Time | null | undefined;
  /** … until before then, … */
  valid_until?: Time | null | undefined;
  /** … at these gates: by the exact names that scans send. */
  gates?: readonly string[] | null | undefined;
}

/** A field that is left out stays as it is; null clears one. */
export interface TicketCategoryChanges extends Changed {
  name?: string | undefined;
  price?: number | undefined;
  currency?: string | undefined;
  quantity_total?: number | undefined;
  tier?: string | undefined;
  valid_from?: Time | null | undefined;
  valid_until?: Time | null | undefined;
  gates?: readonly string[] | null | undefined;
}

const ROOT = "/ticket-categories";
const read = versionedAs(ticketCategory);

/** The key needs the scope `events:write`. */
export class TicketCategories {
  readonly #exchange: Exchange;

  constructor(exchange: Exchange) {
    this.#exchange = exchange;
  }

  /** Add a category to an event. */
  create(event_id: string, { idempotency_key, ...fields }: NewTicketCategory): Promise<TicketCategory> {
    return this.#exchange.ask({
      method: "POST",
      path: path("/events", event_id, "ticket-categories"),
      read,
      body: withoutNone(fields),
      idempotency_key: newKey(idempotency_key),
    });
  }

  /** Change the given fields. Places are never fewer than issued. `if_match` as for an event. */
  update(category_id: string, { if_match, ...fields }: TicketCategoryChanges): Promise<TicketCategory> {
    const body = changes(fields);
    return this.#exchange.ask({ method: "PATCH", path: path(ROOT, category_id), read, body, ...ifMatch(if_match) });
  }

  /** Remove a category that has no tickets in use. */
  delete(category_id: string, options: Changed = {}): Promise<void> {
    const match = { ...ifMatch(options.if_match), repeatable: false };
    return this.#exchange.ask({ method: "DELETE", path: path(ROOT, category_id), read: nothing, ...match });
  }
}
