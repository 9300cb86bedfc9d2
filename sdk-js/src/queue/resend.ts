/**
 * Sending acknowledged activations again, to a service that was restored to an earlier time and has lost them.
 *
 * Only activations are sent: a ticket has one, so the same scan wins again in whatever order gates come. A refusal is
 * not sent, because a ticket that was refused then might be activated now. They are sent by the card's number, because
 * the token is removed with its answer, and with their own keys, so that nothing happens twice.
 */

import { formatTime } from "../arguments.js";
import { APIStatusError, GatepassError } from "../errors.js";
import {
  CLOCKS_DIFFER,
  isOwnActivation,
  type Outcome,
  type QueuedScan,
  refusedBy,
  type Verdict,
  verdictOf,
} from "./scan.js";
import {
  FAILURES_IN_A_ROW,
  isAboutTheScan,
  isNoAnswer,
  isUnreachable,
  now,
  type ScanClient,
  verdictIn,
} from "./sender.js";
import type { ScanStore } from "./store.js";

/** With eight, 10,000 scans over a network that takes 200 ms are sent in four minutes. */
export const WORKERS = 8;
// A refusal is kept under its key for two days, and each run that is refused uses up one key.
const KEYS = 32;
// The service has this key, with the token instead of the number.
const KEY_IS_KNOWN = "idempotency_key_reused";

/**
 * The result of a resend. `restored` activations were lost and are there again; `present` were not lost.
 *
 * - `conflicts`: another scan has activated the ticket since the restore. `details` says when and where.
 * - `refused`: the service refuses it now, for instance because it has lost the ticket or the card too.
 * - `missing`: refusals that name an activation after `since`, which none of these queues holds: the queue of another
 *   gate is missing. `details` says which.
 * - `unanswered`: how many got no answer. `stopped_by` is the error that ended the resend early, or null.
 * - `is_complete`: every acknowledged activation is in the service now, as it was.
 */
export interface Resent {
  readonly restored: number;
  readonly present: number;
  readonly conflicts: readonly Verdict[];
  readonly refused: readonly Verdict[];
  readonly missing: readonly Verdict[];
  readonly unanswered: number;
  readonly stopped_by: GatepassError | null;
  readonly is_complete: boolean;
}

/** Send what was acknowledged after `since` by the clocks of the gates, and a little from before. */
export async function resend(
  stores: readonly ScanStore[],
  client: ScanClient,
  options: { since: Date | string; workers?: number },
): Promise<Resent> {
  const { since, workers = WORKERS } = options;
  if (workers < 1) throw new RangeError("There must be a worker.");
  const from = Date.parse(formatTime(since));
  const scans = (await Promise.all(stores.map((store) => store.all()))).flat();
  const sender = new Resender(client);
  await sender.run(byCard(scans.filter((scan) => isAcknowledged(scan, from - CLOCKS_DIFFER))), workers);
  const missing = [...missingOf(scans, from)];
  const { restored, present, conflicts, refused, unanswered, stopped_by } = sender;
  const is_complete = conflicts.length + refused.length + missing.length + unanswered === 0;
  return { restored, present, conflicts, refused, missing, unanswered, stopped_by, is_complete };
}

/** Whether it activated a ticket, or probably did, and was answered after this time. */
function isAcknowledged(scan: QueuedScan, after: number): boolean {
  return isActivation(scan.answer) && scan.answered_at !== null && Date.parse(scan.answered_at) > after;
}

function isActivation(answer: Outcome | null): boolean {
  return answer !== null && (answer.ticket !== null || answer.probably_ours);
}

/** The scans of all queues, oldest answer first, by card: those of one card are sent one after another. */
function byCard(scans: readonly QueuedScan[]): QueuedScan[][] {
  const of_card = new Map<string, QueuedScan[]>();
  const answered = (scan: QueuedScan): number => Date.parse(scan.answered_at ?? "");
  for (const scan of [...scans].sort((one, other) => answered(one) - answered(other))) {
    of_card.set(scan.card, [...(of_card.get(scan.card) ?? []), scan]);
  }
  return [...of_card.values()];
}

function* missingOf(scans: readonly QueuedScan[], since: number): Generator<Verdict> {
  const ticketOf = (scan: QueuedScan): string => `${scan.event_id} ${scan.card}`;
  const known = new Set(scans.filter(({ answer }) => answer === null || isActivation(answer)).map(ticketOf));
  for (const scan of scans) {
    const { answer } = scan;
    if (answer?.code !== "already_activated" || !answer.details["activated_at"] || answer.probably_ours) continue;
    if (known.has(ticketOf(scan)) || Date.parse(String(answer.details["activated_at"])) < since) continue;
    known.add(ticketOf(scan));
    yield verdictIn(scan);
  }
}

/** One run. It writes nothing to the queues: after a kill, the next run finds in the service what this one did. */
class Resender {
  restored = 0;
  present = 0;
  unanswered = 0;
  readonly conflicts: Verdict[] = [];
  readonly refused: Verdict[] = [];
  stopped_by: GatepassError | null = null;
  readonly #client: ScanClient;
  #failures = 0;
  #is_over = false;

  constructor(client: ScanClient) {
    this.#client = client;
  }

  async run(cards: readonly (readonly QueuedScan[])[], workers: number): Promise<void> {
    this.unanswered = cards.reduce((sum, scans) => sum + scans.length, 0);
    const left = cards[Symbol.iterator]();
    const work = async (): Promise<void> => {
      for (let next = left.next(); !next.done; next = left.next()) await this.#sendCard(next.value);
    };
    await Promise.all(Array.from({ length: workers }, work));
  }

  /** One scan after another. After one without an answer no later one of its card is sent. */
  async #sendCard(scans: readonly QueuedScan[]): Promise<void> {
    for (const scan of scans) {
      if (this.#is_over || this.stopped_by !== null) return;
      try {
        this.#count(await this.#activate(scan));
      } catch (error) {
        if (!(error instanceof APIStatusError) || !isAboutTheScan(error)) return this.#fail(error);
        this.#recordRefusal(scan, error);
      }
    }
  }

  /**
   * Activate the ticket; whether it was activated by this scan before.
   *
   * A refusal of an earlier run is kept under its key. The next key asks again: the ticket may be back by now.
   */
  async #activate(scan: QueuedScan): Promise<boolean> {
    const { event_id, scanner_id, gate, occurred_at } = scan;
    const shown = { card_number: scan.card_number ?? scan.card, scanner_id, gate, occurred_at };
    for (let n = 0; ; n++) {
      try {
        const idempotency_key = await keyOf(scan, n);
        return (await this.#client.scans.create(event_id, { ...shown, idempotency_key })).replayed;
      } catch (error) {
        if (!(error instanceof APIStatusError) || !error.replayed || n === KEYS - 1) throw error;
      }
    }
  }

  #recordRefusal(scan: QueuedScan, error: APIStatusError): void {
    const at = Date.now();
    if (error.code === KEY_IS_KNOWN || isOwnActivation(error, scan, at)) return this.#count(true);
    const refusal = verdictOf(scan, refusedBy(error, scan, { at, activated_by_another: true }), now());
    (error.code === "already_activated" ? this.conflicts : this.refused).push(refusal);
    this.#failures = 0;
    this.unanswered -= 1;
  }

  #count(present: boolean): void {
    if (present) this.present += 1;
    else this.restored += 1;
    this.#failures = 0;
    this.unanswered -= 1;
  }

  /** The scan got no answer. If the service answers nobody, or does not accept the key, the run is over. */
  #fail(error: unknown): void {
    if (!isNoAnswer(error)) {
      this.#is_over = true;
      throw error;
    }
    this.#failures += 1;
    if (isUnreachable(error) || this.#failures >= FAILURES_IN_A_ROW) this.stopped_by = error;
  }
}

/** The key of the nth try: its own, and then UUIDs of version 5 that are made of it. */
async function keyOf(scan: QueuedScan, n: number): Promise<string> {
  if (n === 0) return scan.idempotency_key;
  const pairs = scan.idempotency_key.replaceAll("-", "").match(/../g) ?? [];
  const namespace = pairs.map((pair) => Number.parseInt(pair, 16));
  const name = new TextEncoder().encode(String(n));
  const hash = new Uint8Array(await crypto.subtle.digest("SHA-1", new Uint8Array([...namespace, ...name])));
  hash[6] = ((hash[6] ?? 0) & 0x0f) | 0x50;
  hash[8] = ((hash[8] ?? 0) & 0x3f) | 0x80;
  const hex = Array.from(hash.subarray(0, 16), (byte) => byte.toString(16).padStart(2, "0")).join("");
  return hex.replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, "$1-$2-$3-$4-$5");
}
