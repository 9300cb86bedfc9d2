/**
 * Retries: when to try again, how long to wait, and which error ends a call. Without a network or a clock of its own.
 *
 * A scan has one key for all its tries, so the next try gets an answer that was lost. When there are no tries left, the
 * error says whether the ticket may have been activated nevertheless.
 */

import { APIConnectionError, type APIStatusError, APITimeoutError, classOf, type GatepassError } from "../errors.js";
import { type Answer, type Call, isObject } from "./call.js";

const SHOULD_RETRY = "x-svc-should-retry";
const RETRYABLE: ReadonlySet<number> = new Set([408, 429, 500, 502, 503, 504]);
// Answers that the service keeps for the key of a scan: they are the outcome of the earlier tries too.
const KEPT_FOR_KEY: ReadonlySet<number> = new Set([404, 409, 410, 422]);
const FIRST_WAIT = 0.1;
const LONGEST_WAIT = 2;

/** Why a try has no answer. */
export class NoAnswer extends Error {
  override name = "NoAnswer";
  /** False only if not a byte of the request can have been sent. */
  readonly was_sent: boolean;
  readonly was_late: boolean;

  constructor(message: string, about: { was_sent: boolean; was_late?: boolean; cause?: unknown }) {
    super(message, { cause: about.cause });
    this.was_sent = about.was_sent;
    this.was_late = about.was_late ?? false;
  }
}

/** The seconds for a whole call and for one try, and the number of retries. */
export interface RetryPolicy {
  deadline: number;
  scan_deadline: number;
  try_timeout: number;
  max_retries: number;
}

export type PolicyChanges = { [name in keyof RetryPolicy]?: RetryPolicy[name] | null | undefined };

export const DEFAULT_POLICY: RetryPolicy = {
  // Reads have more time than scans.
  deadline: 20,
  // The limit of a gate: enough for two tries in a dead network, or eight with a busy service.
  scan_deadline: 8,
  // Longer than the service's own deadline of three seconds, so that its late answers are received.
  try_timeout: 3.5,
  max_retries: 8,
};

export function changedPolicy(policy: RetryPolicy, changes: PolicyChanges): RetryPolicy {
  return {
    deadline: changes.deadline ?? policy.deadline,
    scan_deadline: changes.scan_deadline ?? policy.scan_deadline,
    try_timeout: changes.try_timeout ?? policy.try_timeout,
    max_retries: changes.max_retries ?? policy.max_retries,
  };
}

/** The tries of one call. Times are in seconds. */
export class Tries {
  readonly #call: Call<unknown>;
  readonly #policy: RetryPolicy;
  readonly #clock: () => number;
  readonly #jitter: () => number;
  readonly #ends: number;
  #failed = 0;
  // Whether an earlier try may have reached the service although no answer came back.
  #uncertain = false;

  constructor(call: Call<unknown>, policy: RetryPolicy, clock: () => number, jitter: () => number) {
    this.#call = call;
    this.#policy = policy;
    this.#clock = clock;
    this.#jitter = jitter;
    this.#ends = clock() + (call.is_scan ? policy.scan_deadline : policy.deadline);
  }

  get time_left(): number {
    return Math.max(this.#ends - this.#clock(), 0);
  }

  get time_for_this_try(): number {
    return Math.max(Math.min(this.time_left, this.#policy.try_timeout), 0.001);
  }

  /** The wait after a try without an answer. Throws if there is no other try. */
  afterFailure(failure: NoAnswer): number {
    this.#uncertain ||= failure.was_sent;
    const wait = this.#wait(null);
    if ((failure.was_sent && !this.#is_repeatable) || wait === null)
      throw this.#annotated(this.#noAnswer(failure));
    return wait;
  }

  /** The wait after an answer that is not from the service: a portal, a proxy, half a body. */
  afterForeignAnswer(answer: Answer): number {
    this.#uncertain = true;
    const is_busy = RETRYABLE.has(answer.status);
    const wait = this.#wait(is_busy ? retryAfter(answer.headers.get("retry-after")) : null);
    if (!this.#is_repeatable || wait === null) {
      const kind = answer.headers.get("content-type") ?? "no type";
      throw this.#annotated(
        new APIConnectionError(
          `Something other than Gatepass answered (${answer.status}, ${kind}). Check the network.`,
        ),
      );
    }
    return wait;
  }

  /** The wait after a temporary refusal. Throws the refusal if it is final or there is no time. */
  afterRefusal(answer: Answer): number {
    const hint = answer.headers.get(SHOULD_RETRY);
    const passes = hint !== null ? hint === "true" : RETRYABLE.has(answer.status);
    if (answer.status >= 500) this.#uncertain = true;
    const refusal = refusalOf(answer);
    const wait = passes ? this.#wait(refusal.retry_after) : null;
    if (wait === null || (this.#uncertain && !this.#is_repeatable))
      throw this.#annotated(refusal, this.#uncertain && !KEPT_FOR_KEY.has(answer.status));
    return wait;
  }

  get #is_repeatable(): boolean {
    return this.#call.repeatable ?? true;
  }

  /** The wait, or null if there are no tries left, or no time for another. */
  #wait(requested: number | null): number | null {
    this.#failed += 1;
    if (this.#failed > this.#policy.max_retries) return null;
    const backoff = Math.min(FIRST_WAIT * 2 ** (this.#failed - 1), LONGEST_WAIT) * (1 - 0.25 * this.#jitter());
    const wait = Math.max(requested ?? 0, backoff);
    return wait < this.time_left ? wait : null;
  }

  #noAnswer(failure: NoAnswer): APIConnectionError {
    const kind = failure.was_late ? APITimeoutError : APIConnectionError;
    let message = "No answer came back from Gatepass. Try again.";
    if (!this.#uncertain) message = "Gatepass cannot be reached. Check the network and try again.";
    else if (this.#call.is_scan)
      message = "No answer came back. The ticket may have been activated: try again before you turn anyone away.";
    return new kind(message, { cause: failure });
  }

  #annotated<E extends GatepassError>(error: E, unknown = this.#uncertain): E {
    error.idempotency_key = this.#call.idempotency_key ?? null;
    error.outcome_unknown = unknown;
    return error;
  }
}

/** The error of a refusal, with all its fields. */
export function refusalOf(answer: Answer): APIStatusError {
  const { error, code, param, details } = answer.value;
  const known_code = typeof code === "string" ? code : null;
  return new (classOf(answer.status, known_code))(String(error || `The service answered ${answer.status}.`), {
    status: answer.status,
    code: known_code,
    request_id: answer.request_id,
    param: typeof param === "string" ? param : null,
    details: isObject(details) ? details : null,
    retry_after: retryAfter(answer.headers.get("retry-after")),
    replayed: answer.was_replayed,
  });
}

const HTTP_DATE = /^[A-Z][a-z]{2}, \d{2} [A-Z][a-z]{2} \d{4} \d{2}:\d{2}:\d{2} GMT$/;

/** The seconds in a `Retry-After` header, which is a number or a date. */
export function retryAfter(value: string | null, now: () => number = Date.now): number | null {
  if (value === null) return null;
  if (/^\d+$/.test(value)) return Number(value);
  const moment = HTTP_DATE.test(value) ? Date.parse(value) : Number.NaN;
  return Number.isNaN(moment) ? null : Math.max((moment - now()) / 1000, 0);
}
