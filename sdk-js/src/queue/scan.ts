/** A scan of the queue, its answer, and its verdict. */

import type { APIStatusError } from "../errors.js";
import type { ScanResult } from "../models/scan.js";

// The service keeps an answer for its key at least this long. A scan that is sent again later is a new one for it.
const ANSWERS_KEPT = 24 * 3_600_000;
/** The largest accepted difference between the clocks of a gate and of the service, as in the service. */
export const CLOCKS_DIFFER = 2 * 60_000;
// Refused before the service looks for an earlier answer, so they say nothing about an earlier try.
const UNJUDGED: ReadonlySet<string> = new Set(["invalid_request", "invalid_token", "request_too_large"]);

/** What a scan is when it is added. Times are RFC 3339. */
export interface NewQueuedScan {
  idempotency_key: string;
  event_id: string;
  /** The number of the card, whatever was shown. */
  card: string;
  card_number: string | null;
  token: string | null;
  scanner_id: string | null;
  gate: string | null;
  occurred_at: string;
}

export interface QueuedScan extends NewQueuedScan {
  id: number;
  /** The time of its first try; null if there was none. */
  sent_at: string | null;
  answered_at: string | null;
  answer: Outcome | null;
  reported_at: string | null;
}

/** The answer of the service: a ticket, or a refusal with its status and code. */
export interface Outcome {
  ticket: Pick<ScanResult, "ticket_id" | "tier" | "category_name"> | null;
  status: number;
  code: string | null;
  message: string | null;
  details: Readonly<Record<string, unknown>>;
  request_id: string | null;
  replayed: boolean;
  probably_ours: boolean;
  outcome_unknown: boolean;
}

/**
 * The final answer to a scan of the queue.
 *
 * `ticket` is the ticket that it activated, or null: then `status`, `code`, `message` and `details` say why, as in an
 * `APIStatusError`. `replayed` is true if an earlier try reached the service, and this is the answer to it.
 *
 * Two flags mark what cannot be known for certain. Both need an earlier try whose answer was lost.
 *
 * - `probably_ours`: refused as already activated, but probably by this scan itself: it was first sent more than 24
 *   hours ago, and after that its scanner and gate activated the ticket. It needs a `scanner_id`.
 * - `outcome_unknown`: the scan is too old for the service (72 hours), and the lost try may have activated the ticket.
 */
export interface Verdict extends Omit<Outcome, "ticket"> {
  id: number;
  idempotency_key: string;
  event_id: string;
  card: string;
  scanner_id: string | null;
  gate: string | null;
  occurred_at: string;
  answered_at: string;
  ticket: ScanResult | null;
}

export function activatedBy({ ticket_id, tier, category_name, request_id, replayed }: ScanResult): Outcome {
  return {
    ticket: { ticket_id, tier, category_name },
    status: 200,
    code: null,
    message: null,
    details: {},
    request_id,
    replayed,
    probably_ours: false,
    outcome_unknown: false,
  };
}

/** `activated_by_another` if another scan of this queue is known to have activated the ticket. */
export function refusedBy(
  error: APIStatusError,
  scan: QueuedScan,
  { at, activated_by_another }: { at: number; activated_by_another: boolean },
): Outcome {
  const was_lost = scan.sent_at !== null;
  return {
    ticket: null,
    status: error.status,
    code: error.code,
    message: error.message,
    details: error.details,
    request_id: error.request_id,
    replayed: error.replayed,
    probably_ours: !activated_by_another && isOwnActivation(error, scan, at),
    outcome_unknown: error.outcome_unknown || (was_lost && UNJUDGED.has(error.code ?? "")),
  };
}

export function verdictOf(scan: QueuedScan, { ticket, ...outcome }: Outcome, answered_at: string): Verdict {
  const { id, idempotency_key, event_id, card, scanner_id, gate, occurred_at } = scan;
  const { replayed, request_id } = outcome;
  const known = { id, idempotency_key, event_id, card, scanner_id, gate, occurred_at, answered_at };
  return { ...known, ...outcome, ticket: ticket && { ...ticket, replayed, request_id, idempotency_key } };
}

/** Whether "already activated" means this scan itself, whose first answer was lost and is no longer kept. */
export function isOwnActivation(error: APIStatusError, scan: QueuedScan, at: number): boolean {
  if (error.code !== "already_activated" || scan.scanner_id === null || scan.sent_at === null) return false;
  const sent_at = Date.parse(scan.sent_at);
  if (at - sent_at < ANSWERS_KEPT) return false;
  const { activated_at, scanner_id = null, gate = null } = error.details as Record<string, unknown>;
  const was_on_its_way = sent_at - CLOCKS_DIFFER <= Date.parse(String(activated_at));
  return was_on_its_way && scanner_id === scan.scanner_id && gate === scan.gate;
}
