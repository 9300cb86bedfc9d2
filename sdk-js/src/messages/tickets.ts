/** Messages about tickets and scans. */

import { flag, maybe, moment, or, shape, text } from "../decode.js";
import { type Incident, incident } from "../models/incident.js";
import { type Message, message } from "./message.js";

export interface ActivatedTicket {
  ticket_id: string;
  event_id: string;
  card_number: string;
  activated_at: string;
  /** When the gate scanned, if it said so. */
  occurred_at: string | null;
  gate: string | null;
  scanner_id: string | null;
}

/** A scan activated a ticket. */
export type TicketActivated = Message<"ticket.activated", ActivatedTicket>;

export interface CancelledTicket {
  ticket_id: string;
  event_id: string;
  card_number: string;
  cancelled_at: string;
  reason: string | null;
  was_activated: boolean;
}

/** A ticket was cancelled, alone or with its event. */
export type TicketCancelled = Message<"ticket.cancelled", CancelledTicket>;

export interface IssuedTicket {
  ticket_id: string;
  event_id: string;
  category_id: string;
  card_id: string;
  card_number: string;
  external_id: string | null;
  issued_at: string;
}

/** A ticket was issued. */
export type TicketIssued = Message<"ticket.issued", IssuedTicket>;

export interface TransferredTicket {
  ticket_id: string;
  event_id: string;
  card_id: string;
  card_number: string;
  previous_card_id: string;
  previous_card_number: string;
  transferred_at: string;
}

/** An unused ticket moved to another card. */
export type TicketTransferred = Message<"ticket.transferred", TransferredTicket>;

export interface UndoneActivation {
  ticket_id: string;
  event_id: string;
  card_number: string;
  undone_at: string;
  reason: string | null;
}

/** A ticket that was activated can be used again. */
export type TicketActivationUndone = Message<"ticket.activation_undone", UndoneActivation>;

export interface DeniedScan {
  event_id: string;
  card_number: string;
  ticket_id: string | null;
  /** That of the answer. */
  code: string;
  gate: string | null;
  scanner_id: string | null;
  occurred_at: string | null;
  denied_at: string;
}

/** A scan was refused. */
export type ScanDenied = Message<"scan.denied", DeniedScan>;

/** Somebody was let in against the record: an incident was opened. */
export type ScanConflict = Message<"scan.conflict", Incident>;

const TICKET = { ticket_id: text, event_id: text, card_number: text };

export const ticketActivated = message<"ticket.activated", ActivatedTicket>(
  shape({
    ...TICKET,
    activated_at: moment,
    occurred_at: or(maybe(moment), null),
    gate: or(maybe(text), null),
    scanner_id: or(maybe(text), null),
  }),
);
export const ticketCancelled = message<"ticket.cancelled", CancelledTicket>(
  shape({ ...TICKET, cancelled_at: moment, reason: maybe(text), was_activated: flag }),
);
export const ticketIssued = message<"ticket.issued", IssuedTicket>(
  shape({ ...TICKET, category_id: text, card_id: text, external_id: maybe(text), issued_at: moment }),
);
export const ticketTransferred = message<"ticket.transferred", TransferredTicket>(
  shape({
    ...TICKET,
    card_id: text,
    previous_card_id: text,
    previous_card_number: text,
    transferred_at: moment,
  }),
);
export const ticketActivationUndone = message<"ticket.activation_undone", UndoneActivation>(
  shape({ ...TICKET, undone_at: moment, reason: maybe(text) }),
);
export const scanDenied = message<"scan.denied", DeniedScan>(
  shape({
    ...TICKET,
    ticket_id: maybe(text),
    code: text,
    gate: maybe(text),
    scanner_id: maybe(text),
    occurred_at: maybe(moment),
    denied_at: moment,
  }),
);
export const scanConflict = message<"scan.conflict", Incident>(incident);
