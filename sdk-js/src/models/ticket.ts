/** Tickets. */

import { maybe, moment, type OneOf, shape, text } from "../decode.js";
import { type ItemResult, itemResult } from "./item.js";

export interface Ticket {
  id: string;
  event_id: string;
  category_id: string;
  tier: string;
  category_name: string;
  card_id: string;
  card_number: string;
  external_id: string | null;
  state: OneOf<"issued" | "activated" | "cancelled">;
  issued_at: string;
  activated_at: string | null;
  gate: string | null;
  scanner_id: string | null;
  cancelled_at: string | null;
  cancel_reason: string | null;
  updated_at: string;
}

export const ticket = shape<Ticket>({
  id: text,
  event_id: text,
  category_id: text,
  tier: text,
  category_name: text,
  card_id: text,
  card_number: text,
  external_id: maybe(text),
  state: text,
  issued_at: moment,
  activated_at: maybe(moment),
  gate: maybe(text),
  scanner_id: maybe(text),
  cancelled_at: maybe(moment),
  cancel_reason: maybe(text),
  updated_at: moment,
});

/** `status` is 201 for a new ticket, and 200 for one that the same request made before. */
export interface TicketResult extends ItemResult {
  data: Ticket | null;
}

export const ticketResult = itemResult(ticket);
