/** Incidents: where somebody was let in against the record. */

import { maybe, moment, shape, text } from "../decode.js";

/** The admission before, of a duplicate: the one that came to the service first. */
export interface FirstAdmission {
  gate: string | null;
  device_id: string | null;
  scanner_id: string | null;
  occurred_at: string | null;
  received_at: string;
}

const firstAdmission = shape<FirstAdmission>({
  gate: maybe(text),
  device_id: maybe(text),
  scanner_id: maybe(text),
  occurred_at: maybe(moment),
  received_at: moment,
});

/** Somebody was let in, and the record says otherwise. */
export interface Incident {
  id: string;
  event_id: string;
  /** `duplicate`, `revoked_meanwhile` and so on. */
  kind: string;
  ticket_id: string | null;
  card_number: string | null;
  gate: string | null;
  device_id: string | null;
  /** The device's time. */
  occurred_at: string | null;
  /** The same by the clock of the service. */
  corrected_at: string | null;
  received_at: string;
  first: FirstAdmission | null;
  reason: string | null;
  closed_at: string | null;
  closed_by: string | null;
  note: string | null;
}

export const incident = shape<Incident>({
  id: text,
  event_id: text,
  kind: text,
  ticket_id: maybe(text),
  card_number: maybe(text),
  gate: maybe(text),
  device_id: maybe(text),
  occurred_at: maybe(moment),
  corrected_at: maybe(moment),
  received_at: moment,
  first: maybe(firstAdmission),
  reason: maybe(text),
  closed_at: maybe(moment),
  closed_by: maybe(text),
  note: maybe(text),
});
