/** Events of the organization. */

import { changes, newKey, path, type Time, withoutNone } from "../arguments.js";
import { nothing, versionedAs } from "../decode.js";
import type { Exchange } from "../http/exchange.js";
import { type PageOptions, Pages } from "../http/pages.js";
import { type Event, event } from "../models/event.js";
import { type Changed, ifMatch, type Once } from "./options.js";

export interface NewEvent extends Once {
  title: string;
  starts_at: Time;
  ends_at: Time;
  time_zone?: string | null | undefined;
  description?: string | null | undefined;
  venue?: string | null | undefined;
  city?: string | null | undefined;
  country?: string | null | undefined;
  cover_url?: string | null | undefined;
  codes?: Event["codes"] | null | undefined;
  doors_open_at?: Time | null | undefined;
  offline?: Event["offline"] | null | undefined;
}

/** A field that is left out stays as it is; null clears one. */
export interface EventChanges extends Changed {
  title?: string | undefined;
  starts_at?: Time | undefined;
  ends_at?: Time | undefined;
  time_zone?: string | undefined;
  description?: string | null | undefined;
  venue?: string | null | undefined;
  city?: string | null | undefined;
  country?: string | null | undefined;
  cover_url?: string | null | undefined;
  codes?: Event["codes"] | undefined;
  doors_open_at?: Time | null | undefined;
  offline?: Event["offline"] | undefined;
}

const ROOT = "/events";
const read = versionedAs(event);

/** The key needs the scope `events:read` to read, and `events:write` to change. */
export class Events {
  readonly #exchange: Exchange;

  constructor(exchange: Exchange) {
    this.#exchange = exchange;
  }

  /**
   * Published events, in the order of their start.
   *
   * With `events:write`, `status` lists those that are `draft`, `cancelled` or `ended` instead.
   */
  list(options: PageOptions & { status?: Event["status"] | null | undefined } = {}): Pages<Event> {
    return new Pages(this.#exchange, ROOT, event, options);
  }

  /** One event, whatever its status. */
  async retrieve(event_id: string): Promise<Event> {
    return this.#exchange.ask({ method: "GET", path: path(ROOT, event_id), read });
  }

  /** Create an event. It begins as a draft: add ticket categories, then publish it. */
  async create({ idempotency_key, ...fields }: NewEvent): Promise<Event> {
    return this.#post(ROOT, withoutNone(fields), idempotency_key);
  }

  /**
   * Change the given fields. With `if_match`, the `etag` of an event, only if it is still that.
   *
   * Throws `ChangedMeanwhile` if somebody else was first.
   */
  async update(event_id: string, { if_match, ...fields }: EventChanges): Promise<Event> {
    const body = changes(fields);
    return this.#exchange.ask({ method: "PATCH", path: path(ROOT, event_id), read, body, ...ifMatch(if_match) });
  }

  /** Show a draft and open it for scans. Throws `Conflict` if something that it needs is missing. */
  async publish(event_id: string, options: Once = {}): Promise<Event> {
    return this.#post(path(ROOT, event_id, "publish"), undefined, options.idempotency_key);
  }

  /** Cancel an event, for good. Its tickets are cancelled soon after; holders are told the reason. */
  async cancel(event_id: string, { reason, idempotency_key }: Once & { reason: string }): Promise<Event> {
    return this.#post(path(ROOT, event_id, "cancel"), { reason }, idempotency_key);
  }

  /** End a published event, for good: its gates are closed. */
  async end(event_id: string, options: Once = {}): Promise<Event> {
    return this.#post(path(ROOT, event_id, "end"), undefined, options.idempotency_key);
  }

  /** Open an event again that ended by itself, for six hours at least. The reason is kept in its history. */
  async reopen(event_id: string, { reason, idempotency_key }: Once & { reason: string }): Promise<Event> {
    return this.#post(path(ROOT, event_id, "reopen"), { reason }, idempotency_key);
  }

  /** Delete a draft for which nothing was issued. */
  async delete(event_id: string, options: Changed = {}): Promise<void> {
    const match = { ...ifMatch(options.if_match), repeatable: false };
    return this.#exchange.ask({ method: "DELETE", path: path(ROOT, event_id), read: nothing, ...match });
  }

  async #post(path: string, body: object | undefined, key: string | null | undefined): Promise<Event> {
    const call = { method: "POST", path, read, idempotency_key: newKey(key) } as const;
    return this.#exchange.ask(body === undefined ? call : { ...call, body });
  }
}
