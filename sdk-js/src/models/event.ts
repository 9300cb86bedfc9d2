/** Events and their ticket categories. */

import { amount, etag, integer, list, maybe, moment, type OneOf, or, shape, text, type Versioned } from "../decode.js";

/** Its tickets open `gates`, from `valid_from` until before `valid_until`; null: all gates, always. */
export interface TicketCategory extends Versioned {
  id: string;
  name: string;
  /** In major units: 25.5 is 25.50 of the currency. */
  price: number;
  currency: string;
  quantity_total: number;
  quantity_sold: number;
  tier: string;
  updated_at: string | null;
  valid_from: string | null;
  valid_until: string | null;
  gates: readonly string[] | null;
}

export const ticketCategory = shape<TicketCategory>({
  id: text,
  name: text,
  price: amount,
  currency: text,
  quantity_total: integer,
  quantity_sold: integer,
  tier: or(text, "standard"),
  updated_at: or(maybe(moment), null),
  valid_from: or(maybe(moment), null),
  valid_until: or(maybe(moment), null),
  gates: or(maybe(list(text)), null),
  ...etag,
});

export interface Event extends Versioned {
  id: string;
  title: string;
  description: string | null;
  venue: string | null;
  city: string | null;
  country: string | null;
  starts_at: string;
  ends_at: string;
  cover_url: string | null;
  status: OneOf<"draft" | "published" | "cancelled" | "ended">;
  ticket_categories: readonly TicketCategory[];
  time_zone: string;
  codes: OneOf<"any" | "phone">;
  updated_at: string | null;
  doors_open_at: string | null;
  /** Whom a device without a network admits. */
  offline: OneOf<"manifest" | "signature" | "stop">;
}

export const event = shape<Event>({
  id: text,
  title: text,
  description: maybe(text),
  venue: maybe(text),
  city: maybe(text),
  country: maybe(text),
  starts_at: moment,
  ends_at: moment,
  cover_url: maybe(text),
  status: text,
  ticket_categories: list(ticketCategory),
  time_zone: or(text, "UTC"),
  codes: or(text, "any"),
  updated_at: or(maybe(moment), null),
  doors_open_at: or(maybe(moment), null),
  offline: or(text, "manifest"),
  ...etag,
});
