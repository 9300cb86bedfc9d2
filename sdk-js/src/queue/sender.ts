/**
 * The sender of a queue: scans of one card one after another, different cards in parallel.
 *
 * Answers that come while others are written are stored together in the next write.
 */

import type { Gatepass } from "../client.js";
import { APIConnectionError, APIStatusError, type GatepassError, RateLimited, ServerError } from "../errors.js";
import type { ScanResult } from "../models/scan.js";
import { activatedBy, type Outcome, type QueuedScan, refusedBy, type Verdict, verdictOf } from "./scan.js";
import type { ScanStore } from "./store.js";

/** What a queue needs of a client. */
export type ScanClient = Pick<Gatepass, "scans">;

/** Called for each verdict, at least once: again if the program ends before it was stored that it was called. */
export type OnVerdict = (verdict: Verdict) => void | Promise<void>;

// Answers about the scan. Others are about the key, the URL or the time; after them the scan stays in the queue.
const VERDICT_STATUSES: ReadonlySet<number> = new Set([400, 404, 409, 410, 413, 422]);
const WRONG_PATH = "not_found";
/** One scan that the service cannot answer must not stop the others. Three failures in a row are not caused by them. */
export const FAILURES_IN_A_ROW = 3;
// Scans in memory: enough to find other cards after one that was scanned many times.
const WINDOW = 500;
const REPORTED_AT_ONCE = 100;

/** The result of a drain. `stopped_by` is the error that ended it early, or null. */
export interface Drained {
  readonly settled: number;
  readonly waiting: number;
  readonly stopped_by: GatepassError | null;
}

/** The order of sending: next is the oldest scan of each card that has no scan in flight. */
class SendOrder {
  readonly #store: ScanStore;
  #read_up_to = 0;
  #waiting: QueuedScan[] = [];
  readonly #busy = new Set<string>();
  readonly #held = new Set<string>();

  constructor(store: ScanStore) {
    this.#store = store;
  }

  async next(limit: number): Promise<QueuedScan[]> {
    if (limit <= 0) return [];
    await this.#fill();
    const chosen: QueuedScan[] = [];
    this.#waiting = this.#waiting.filter((scan) => {
      if (chosen.length >= limit || this.#busy.has(scan.card)) return true;
      this.#busy.add(scan.card);
      chosen.push(scan);
      return false;
    });
    return chosen;
  }

  async #fill(): Promise<void> {
    const found = await this.#store.waiting(this.#read_up_to, WINDOW - this.#waiting.length);
    this.#read_up_to = found.at(-1)?.id ?? this.#read_up_to;
    this.#waiting.push(...found.filter((scan) => !this.#held.has(scan.card)));
  }

  /** The scan is answered: the next one of its card may be sent. */
  release(scan: QueuedScan): void {
    this.#busy.delete(scan.card);
  }

  /** The scan was not answered: no later scan of its card may be sent before it. */
  hold(scan: QueuedScan): void {
    this.#held.add(scan.card);
    this.#waiting = this.#waiting.filter((other) => other.card !== scan.card);
  }
}

/** What became of one try. */
interface Tried {
  scan: QueuedScan;
  result?: ScanResult;
  error?: unknown;
}

/** One run through a queue. */
export class QueueSender {
  readonly #store: ScanStore;
  readonly #client: ScanClient;
  readonly #on_verdict: OnVerdict | null;
  readonly #workers: number;
  readonly #order: SendOrder;
  // When those in flight were sent first. A scan itself says when it was before this run.
  readonly #sent_at = new Map<number, string>();
  #settled = 0;
  #failures = 0;
  #stopped_by: GatepassError | null = null;
  #fault: { error: unknown } | null = null;

  constructor(store: ScanStore, client: ScanClient, on_verdict: OnVerdict | null, workers: number) {
    this.#store = store;
    this.#client = client;
    this.#on_verdict = on_verdict;
    this.#workers = workers;
    this.#order = new SendOrder(store);
  }

  /** Send until nothing is left, or nothing more can be sent. Waits for the scans in flight. */
  async run(): Promise<Drained> {
    await this.#report();
    await this.#sendAll();
    if (this.#fault !== null) throw this.#fault.error;
    return { settled: this.#settled, waiting: (await this.#store.counts()).waiting, stopped_by: this.#stopped_by };
  }

  async #sendAll(): Promise<void> {
    const in_flight = new Set<Promise<void>>();
    let done: Tried[] = [];
    try {
      for (;;) {
        const answers = await this.#outcomes(done);
        done = [];
        const is_stopped = this.#stopped_by !== null || this.#fault !== null;
        const sending = is_stopped ? [] : await this.#order.next(this.#workers - in_flight.size);
        await this.#record(answers, sending);
        this.#settled += answers.length;
        for (const scan of sending) {
          const asked: Promise<void> = this.#ask(scan).then((tried) => {
            done.push(tried);
            in_flight.delete(asked);
          });
          in_flight.add(asked);
        }
        await this.#report();
        if (in_flight.size === 0 && done.length === 0) return;
        if (done.length === 0) await Promise.race(in_flight);
      }
    } finally {
      await Promise.all(in_flight);
    }
  }

  /** Store these answers, and that these scans are about to be sent. The token of an answered scan is removed. */
  async #record(answers: readonly [QueuedScan, Outcome][], sending: readonly QueuedScan[]): Promise<void> {
    const at = now();
    const sent = sending.map((scan) => ({ ...scan, sent_at: scan.sent_at ?? at }));
    const answered = answers.map(([scan, answer]) => {
      const sent_at = this.#sent_at.get(scan.id) ?? scan.sent_at;
      return { ...scan, sent_at, answer, answered_at: at, token: null };
    });
    await this.#store.put([...answered, ...sent]);
    for (const { id } of answered) this.#sent_at.delete(id);
    for (const { id, sent_at } of sent) this.#sent_at.set(id, sent_at);
  }

  async #ask(scan: QueuedScan): Promise<Tried> {
    const { event_id, card_number, token, scanner_id, gate, occurred_at, idempotency_key } = scan;
    const shown = token !== null ? { token } : { card_number: card_number ?? scan.card };
    try {
      const place = { scanner_id, gate, occurred_at, idempotency_key };
      return { scan, result: await this.#client.scans.create(event_id, { ...shown, ...place }) };
    } catch (error) {
      return { scan, error };
    }
  }

  async #outcomes(done: readonly Tried[]): Promise<[QueuedScan, Outcome][]> {
    const answers: [QueuedScan, Outcome][] = [];
    for (const tried of done) {
      const outcome = await this.#outcome(tried);
      if (outcome === null) {
        this.#order.hold(tried.scan);
        continue;
      }
      this.#failures = 0;
      this.#order.release(tried.scan);
      answers.push([tried.scan, outcome]);
    }
    return answers;
  }

  /** The service's answer about this scan, or null if there is none. */
  async #outcome({ scan, result, error }: Tried): Promise<Outcome | null> {
    if (result !== undefined) return activatedBy(result);
    if (error instanceof APIStatusError && isAboutTheScan(error)) {
      const activated_by_another = await this.#store.isActivatedByAnother(scan);
      return refusedBy(error, scan, { at: Date.now(), activated_by_another });
    }
    if (isNoAnswer(error)) {
      this.#failures += 1;
      if (isUnreachable(error) || this.#failures >= FAILURES_IN_A_ROW) this.#stopped_by = error;
    } else this.#fault ??= { error };
    return null;
  }

  async #report(): Promise<void> {
    if (this.#on_verdict !== null) await reportAll(this.#store, this.#on_verdict);
  }
}

/** Call this for all verdicts that were not reported. If it throws, that one comes again, those before it do not. */
async function reportAll(store: ScanStore, on_verdict: OnVerdict): Promise<void> {
  let found: QueuedScan[];
  do {
    found = await store.unreported(REPORTED_AT_ONCE);
    const reported: QueuedScan[] = [];
    try {
      for (const scan of found) {
        await on_verdict(verdictIn(scan));
        reported.push(scan);
      }
    } finally {
      await markReported(store, reported);
    }
  } while (found.length === REPORTED_AT_ONCE);
}

/** Verdicts that were not reported, oldest scan first. One counts as reported when the next one is asked for. */
export async function* unreported(store: ScanStore): AsyncGenerator<Verdict, void> {
  for (;;) {
    const found = await store.unreported(REPORTED_AT_ONCE);
    if (found.length === 0) return;
    for (const scan of found) {
      yield verdictIn(scan);
      await markReported(store, [scan]);
    }
  }
}

async function markReported(store: ScanStore, scans: readonly QueuedScan[]): Promise<void> {
  const reported_at = now();
  await store.put(scans.map((scan) => ({ ...scan, reported_at })));
}

export function verdictIn(scan: QueuedScan): Verdict {
  if (scan.answer === null || scan.answered_at === null) throw new Error("This scan has no answer.");
  return verdictOf(scan, scan.answer, scan.answered_at);
}

export function isAboutTheScan(error: APIStatusError): boolean {
  return VERDICT_STATUSES.has(error.status) && error.code !== WRONG_PATH;
}

export function isNoAnswer(error: unknown): error is GatepassError {
  return error instanceof APIConnectionError || error instanceof RateLimited || error instanceof ServerError;
}

/** Whether nothing of the request can have reached the service. */
export function isUnreachable(error: GatepassError): boolean {
  return error instanceof APIConnectionError && !error.outcome_unknown;
}

export function now(): string {
  return new Date().toISOString();
}
