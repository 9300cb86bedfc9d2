/** One scan as it is kept: what was shown, what came of it, and, if the device decided, its entry of the journal. */

import type { Bytes } from "../bytes.js";

/**
 * It is open while `verdict` is null. Decided by the device it has a sequence and is uploaded. It is settled once the
 * service has it. `card` is a mark that says nothing without the key, `shown` the sealed code until it is settled.
 * `n` is its place in the order of scans; `changed` is the write that changed it last, the same in both places.
 */
export interface StoredScan {
  idempotency_key: string;
  n: number;
  changed: number;
  card: string;
  event_id: string;
  gate: string;
  scanner_id: string;
  /** The text that every try sends. */
  occurred_at: string;
  shown: Bytes | null;
  was_sent: boolean;
  verdict: string | null;
  let_in: boolean;
  was_seen: boolean;
  sequence: number | null;
  admitted: boolean | null;
  signature: string | null;
  uploaded_at: string | null;
  settled_at: string | null;
  outcome: string | null;
  code: string | null;
  incidents: number;
}

// The service judged the same moment by the same rules, so it cannot have activated the ticket: seen again later, such
// a guest is judged anew.
const OF_ITS_TIME: ReadonlySet<string> = new Set(["doors_closed", "expired", "outside_window", "event_not_active"]);

/** Whether the same scan must be repeated: its ticket may have been activated, and nobody was let in for it. */
export function isUnsettled(scan: StoredScan): boolean {
  if (scan.shown === null || scan.settled_at !== null || scan.let_in) return false;
  return scan.verdict === null || (scan.was_sent && !OF_ITS_TIME.has(scan.verdict));
}

export function isOpen(scan: StoredScan): boolean {
  return scan.verdict === null && scan.settled_at === null;
}

export function isWaiting(scan: StoredScan): boolean {
  return scan.sequence !== null && scan.settled_at === null && scan.outcome === null;
}

export function isRejected(scan: StoredScan): boolean {
  return scan.outcome === "rejected";
}

/** The fields by which a place finds scans. A field that is missing keeps a scan out of that index. */
export function indexed(scan: StoredScan): StoredScan & { open?: number; waiting?: number; rejected?: number } {
  return {
    ...scan,
    ...(isOpen(scan) && { open: scan.n }),
    ...(isWaiting(scan) && { waiting: scan.sequence as number }),
    ...(isRejected(scan) && { rejected: scan.sequence as number }),
  };
}
