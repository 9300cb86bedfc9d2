/** Tickets: issued one by one or in batches, read, cancelled, transferred. */

import { newKey, path, type Time, withoutNone } from "../arguments.js";
import { cut } from "../batches.js";
import { dataAs, list } from "../decode.js";
import type { Exchange } from "../http/exchange.js";
import { type PageOptions, Pages } from "../http/pages.js";
import { type Ticket, type TicketResult, ticket, ticketResult } from "../models/ticket.js";
import { type HolderDetails, type Once, paired } from "./options.js";

/** Exactly one of these says whose the ticket is. */
export type ForCardOrHolder =
  | { card_id: string; card_number?: null | undefined; holder?: null | undefined }
  | { card_number: string; card_id?: null | undefined; holder?: null | undefined }
  | { holder: HolderDetails; card_id?: null | undefined; card_number?: null | undefined };

/** A ticket to be issued on a card or for a person. */
export type NewTicket = ForCardOrHolder & {
  event_id: string;
  category_id: string;
  external_id?: string | null | undefined;
};

/** Exactly one of these says whose the ticket is from now on. */
export type NewOwner =
  | { card_id: string; holder?: null | undefined }
  | { holder: HolderDetails; card_id?: null | undefined };

export interface TicketFilter extends PageOptions {
  event_id?: string | null | undefined;
  card_id?: string | null | undefined;
  state?: Ticket["state"] | null | undefined;
  external_id?: string | null | undefined;
  updated_after?: Time | null | undefined;
}

const ROOT = "/tickets";
const read = dataAs(ticket);

/** The key needs the scope `tickets:read` to read, and `tickets:write` to issue and change. */
export class Tickets {
  readonly #exchange: Exchange;

  constructor(exchange: Exchange) {
    this.#exchange = exchange;
  }

  /**
   * Issue a ticket on a card, or for a person, whose card is found by the e-mail address or made.
   *
   * A second call with the same `external_id` and content gets the ticket that the first has made.
   */
  create({ idempotency_key, ...fields }: NewTicket & Once): Promise<Ticket> {
    return this.#post(ROOT, withoutNone(fields), idempotency_key);
  }

  /** Issue at most 1,000 tickets in one transaction: a result for each, in order. A refused one harms no other. */
  batch(tickets: readonly NewTicket[], options: Once = {}): Promise<readonly TicketResult[]> {
    return this.#exchange.ask({
      method: "POST",
      path: `${ROOT}/batch`,
      read: dataAs(list(ticketResult)),
      body: { tickets },
      idempotency_key: newKey(options.idempotency_key),
    });
  }

  /**
   * Issue any number of tickets, in batches of at most 1,000 and 1 MiB: each request with its result.
   *
   * With an `external_id` in each it can be interrupted and begun again: nothing is issued twice.
   */
  async *createAll(
    tickets: Iterable<NewTicket> | AsyncIterable<NewTicket>,
  ): AsyncGenerator<[ticket: NewTicket, result: TicketResult], void, undefined> {
    for await (const some of cut(tickets)) yield* paired(some, await this.batch(some));
  }

  /** Tickets that fit all that is given, newest first. */
  list(options: TicketFilter = {}): Pages<Ticket> {
    return new Pages(this.#exchange, ROOT, ticket, options);
  }

  /** One ticket as it is now. */
  retrieve(ticket_id: string): Promise<Ticket> {
    return this.#exchange.ask({ method: "GET", path: path(ROOT, ticket_id), read });
  }

  /** Cancel a ticket, used or not. Its place is free again. */
  cancel(ticket_id: string, { reason, idempotency_key }: Once & { reason: string }): Promise<Ticket> {
    return this.#post(path(ROOT, ticket_id, "cancel"), { reason }, idempotency_key);
  }

  /** Move a ticket that was not used to another card or person. */
  transfer(ticket_id: string, { idempotency_key, ...owner }: NewOwner & Once): Promise<Ticket> {
    return this.#post(path(ROOT, ticket_id, "transfer"), withoutNone(owner), idempotency_key);
  }

  #post(path: string, body: object, key: string | null | undefined): Promise<Ticket> {
    return this.#exchange.ask({ method: "POST", path, read, body, idempotency_key: newKey(key) });
  }
}
