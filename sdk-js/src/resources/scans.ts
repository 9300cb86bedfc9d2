/** Scans: a card is shown at a gate, and its ticket is activated; every scan can be listed with its verdict. */

import { newKey, type Time, withoutNone } from "../arguments.js";
import { dataAs } from "../decode.js";
import type { Exchange } from "../http/exchange.js";
import { type PageOptions, Pages } from "../http/pages.js";
import { activated, type RecordedScan, recordedScan, type ScanBatch, type ScanResult, scanBatch } from "../models/scan.js";
import type { Once } from "./options.js";

/** Exactly one of these: the typed card number, or the scanned token. */
export type ShownCard =
  | { card_number: string; token?: null | undefined }
  | { token: string; card_number?: null | undefined };

export interface ScanPlace {
  scanner_id?: string | null | undefined;
  gate?: string | null | undefined;
  /** When the card was shown, if not now. */
  occurred_at?: Time | null | undefined;
}

export type NewScan = ShownCard & ScanPlace & Once;

export interface ScanFilter extends PageOptions {
  event_id?: string | null | undefined;
  ticket_id?: string | null | undefined;
  card_id?: string | null | undefined;
  after?: string | null | undefined;
}

/** The body of a scan. */
export function scanBody(event_id: string, fields: ShownCard & ScanPlace): Record<string, unknown> {
  const { card_number = null, token = null, scanner_id, gate, occurred_at } = fields;
  if ((card_number === null) === (token === null)) throw new TypeError("Give either card_number or token.");
  return withoutNone({ event_id, card_number, token, scanner_id, gate, occurred_at });
}

export class Scans {
  readonly #exchange: Exchange;

  constructor(exchange: Exchange) {
    this.#exchange = exchange;
  }

  /**
   * Activate the ticket of this card for this event, by the typed card number or the scanned token.
   *
   * The key is made once and sent with every try, so a lost answer never activates a ticket twice. Pass the
   * `idempotency_key` of an error to repeat that scan.
   */
  async create(event_id: string, { idempotency_key: given, ...fields }: NewScan): Promise<ScanResult> {
    const idempotency_key = newKey(given);
    return this.#exchange.ask({
      method: "POST",
      path: "/scan",
      read: (answer) => ({
        ...activated(answer.value["data"]),
        replayed: answer.was_replayed,
        request_id: answer.request_id,
        idempotency_key,
      }),
      body: scanBody(event_id, fields),
      idempotency_key,
      is_scan: true,
    });
  }

  /**
   * Upload a part of a device's journal, with the device's key: at most 500 entries, each signed.
   *
   * An entry is taken once, so that a part may be sent again. `Gate` keeps a journal, signs it and uploads it.
   */
  batch(entries: readonly object[]): Promise<ScanBatch> {
    return this.#exchange.ask({ method: "POST", path: "/scans/batch", read: dataAs(scanBatch), body: { entries } });
  }

  /**
   * Scans with their verdicts, newest first; of one event, ticket or card if that is given.
   *
   * With `after`, the `cursor` of a scan or a page's `next_cursor`, those that followed it, oldest first. The newest
   * 12 seconds are held back then, so that none is missed.
   */
  list(options: ScanFilter = {}): Pages<RecordedScan> {
    const cursor_name = options.after ? "after" : "cursor";
    return new Pages(this.#exchange, "/scans", recordedScan, options, cursor_name);
  }
}
