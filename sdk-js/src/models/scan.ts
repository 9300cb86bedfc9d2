/** Scans: the ticket that one activated, every scan with its verdict, and the results of an uploaded journal. */

import { integer, list, maybe, moment, type OneOf, type Reader, shape, text } from "../decode.js";
import { Unreadable } from "../http/call.js";

/** The ticket that was activated. */
export interface ScanResult {
  ticket_id: string;
  tier: string;
  category_name: string;
  /** True if an earlier try of this scan did it. */
  replayed: boolean;
  request_id: string | null;
  idempotency_key: string;
}

/** The part of it that the service sends. Without all of this an answer admits nobody. */
export const activated = shape<Pick<ScanResult, "ticket_id" | "tier" | "category_name">>({
  ticket_id: text,
  tier: text,
  category_name: text,
});

/** A scan and its verdict: `activated`, or the code of a refusal. Lists go on from its `cursor`. */
export interface RecordedScan {
  id: string;
  scanned_at: string;
  event_id: string;
  card_number: string;
  card_id: string | null;
  ticket_id: string | null;
  verdict: string;
  gate: string | null;
  scanner_id: string | null;
  occurred_at: string | null;
  cursor: string;
}

export const recordedScan = shape<RecordedScan>({
  id: text,
  scanned_at: moment,
  event_id: text,
  card_number: text,
  card_id: maybe(text),
  ticket_id: maybe(text),
  verdict: text,
  gate: maybe(text),
  scanner_id: maybe(text),
  occurred_at: maybe(moment),
  cursor: text,
});

/** An incident that an entry of a journal opened. */
export interface OpenedIncident {
  id: string;
  kind: string;
}

/** A rejected entry is not taken: keep it, and show it. */
export interface JournalEntryResult {
  sequence: number;
  outcome: OneOf<"activated" | "recorded" | "rejected">;
  code: string | null;
  ticket_id: string | null;
  incidents: readonly OpenedIncident[];
}

/** A result for each entry, and the gaps in the device's sequence: pairs of a first and a last number. */
export interface ScanBatch {
  results: readonly JournalEntryResult[];
  missing: readonly (readonly [first: number, last: number])[];
}

const gap: Reader<readonly [number, number]> = (value) => {
  const [first, last, ...more] = list(integer)(value);
  if (first === undefined || last === undefined || more.length > 0) throw new Unreadable("a gap was expected");
  return [first, last];
};

export const scanBatch = shape<ScanBatch>({
  results: list(
    shape<JournalEntryResult>({
      sequence: integer,
      outcome: text,
      code: maybe(text),
      ticket_id: maybe(text),
      incidents: list(shape<OpenedIncident>({ id: text, kind: text })),
    }),
  ),
  missing: list(gap),
});
