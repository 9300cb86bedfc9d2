/** A queue of scans, wherever they are kept. */

import { formatTime, newKey } from "../arguments.js";
import { cardShown } from "../card/number.js";
import { type ScanPlace, type ShownCard, scanBody } from "../resources/scans.js";
import { type Resent, resend, WORKERS } from "./resend.js";
import type { Verdict } from "./scan.js";
import { type Drained, type OnVerdict, QueueSender, type ScanClient, unreported } from "./sender.js";
import type { ScanStore } from "./store.js";

/**
 * Seconds. Longer than the service accepts late scans (72 hours), so that a late 409 can be recognized as our own
 * activation, and an activation can be sent again as long as the service accepts it.
 */
export const KEEP_REPORTED = 7 * 24 * 3600;

export interface QueueOptions {
  /** For how many seconds a scan is kept after its verdict was reported. */
  keep_reported?: number;
}

export interface DrainOptions {
  /** Called for each verdict, also for those that an earlier drain stored and did not report. At least once. */
  on_verdict?: OnVerdict;
  /** How many cards are sent in parallel. */
  workers?: number;
}

export interface ResendOptions {
  /** The time to which the service was restored. */
  since: Date | string;
  workers?: number;
}

/**
 * Scans on a local disk, for one organization, live or sandbox. One at a time may `drain` or read `verdicts`; others
 * get `QueueInUse`.
 *
 * A token is removed in the write that stores the answer to it, and a whole scan, with its card number, `keep_reported`
 * seconds after its verdict was reported. Until then an activation can be sent again, by its card number.
 */
export class ScanQueue {
  readonly #store: ScanStore;
  readonly #keep_reported: number;

  protected constructor(store: ScanStore, options: QueueOptions = {}) {
    this.#store = store;
    this.#keep_reported = options.keep_reported ?? KEEP_REPORTED;
  }

  /**
   * Store a scan. Returns its id; ids grow. When this returns, the scan is on the disk.
   *
   * `occurred_at` is now if it is not given. The service accepts a scan for 72 hours.
   */
  async add(event_id: string, fields: ShownCard & ScanPlace): Promise<number> {
    const occurred_at = fields.occurred_at ?? new Date();
    // The same checks as those of a scan that is sent at once.
    scanBody(event_id, { ...fields, occurred_at });
    const [card_number, token] = [fields.card_number ?? null, fields.token ?? null];
    return this.#store.add({
      idempotency_key: newKey(null),
      event_id,
      card: cardShown(card_number, token),
      card_number,
      token,
      scanner_id: fields.scanner_id ?? null,
      gate: fields.gate ?? null,
      occurred_at: formatTime(occurred_at),
    });
  }

  /**
   * Send the waiting scans, oldest first, and store each answer. Returns when nothing more can be sent.
   *
   * Scans of one card are sent one after another, whether by its number or its token; up to `workers` cards are sent in
   * parallel. Each scan has the retries and the deadline of the client, and its waits on 429 and 503. If the network or
   * the service is down, the rest stays and `stopped_by` of the result has the error: call again later. A single scan
   * that the service cannot answer is left for the next drain, and so are the later scans of its card.
   *
   * A refusal is an answer. A key that is not accepted (401, 403) is not an answer: it throws, and the scans stay. If
   * `on_verdict` throws, that verdict is not reported, and the drain ends with its error.
   */
  async drain(client: ScanClient, options: DrainOptions = {}): Promise<Drained> {
    const { on_verdict = null, workers = WORKERS } = options;
    if (workers < 1) throw new RangeError("There must be a worker.");
    return this.#alone(async () => {
      try {
        return await new QueueSender(this.#store, client, on_verdict, workers).run();
      } finally {
        await this.#store.forget(new Date(Date.now() - this.#keep_reported * 1000).toISOString());
      }
    });
  }

  /**
   * Verdicts that were not reported yet, oldest scan first.
   *
   * A verdict counts as reported when the loop asks for the next one. So if the program ends in the loop, or the loop
   * is left, the current verdict comes again, and none is missed.
   */
  async *verdicts(): AsyncGenerator<Verdict, void> {
    const release = await this.#store.exclusive();
    try {
      yield* unreported(this.#store);
    } finally {
      release();
    }
  }

  /** Send the activations of this queue again that were acknowledged after `since`: see `resendScans`. */
  async resend(client: ScanClient, options: ResendOptions): Promise<Resent> {
    return this.#alone(() => resend([this.#store], client, options));
  }

  /** The number of scans without an answer. */
  async waiting(): Promise<number> {
    return (await this.#store.counts()).waiting;
  }

  /** The number of scans with an answer that are still stored. */
  async settled(): Promise<number> {
    return (await this.#store.counts()).settled;
  }

  /** The number of scans with an answer that was not reported yet. */
  async unreported(): Promise<number> {
    return (await this.#store.counts()).unreported;
  }

  /** Close it. Scans stay in it. */
  async close(): Promise<void> {
    await this.#store.close();
  }

  async #alone<T>(step: () => Promise<T>): Promise<T> {
    const release = await this.#store.exclusive();
    try {
      return await step();
    } finally {
      release();
    }
  }
}
