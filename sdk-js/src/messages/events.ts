/** Messages about events. */

import { amount, integer, list, maybe, moment, or, type Reader, shape, text } from "../decode.js";
import { type Message, message } from "./message.js";

export interface CancelledEvent {
  event_id: string;
  cancelled_at: string;
  reason: string | null;
}

/** An event was cancelled; a `TicketCancelled` follows for each of its tickets. */
export type EventCancelled = Message<"event.cancelled", CancelledEvent>;

export interface UpdatedCategory {
  id: string;
  name: string;
  tier: string;
  price: number;
  currency: string;
  quantity_total: number;
  valid_from: string | null;
  valid_until: string | null;
  gates: readonly string[] | null;
}

/** The whole event as it is now, except its cover. */
export interface UpdatedEvent {
  event_id: string;
  status: string;
  title: string;
  description: string | null;
  venue: string | null;
  city: string | null;
  country: string | null;
  time_zone: string;
  starts_at: string;
  ends_at: string;
  ticket_categories: readonly UpdatedCategory[];
  updated_at: string;
  codes: string;
  doors_open_at: string | null;
  offline: string;
}

/** An event was made or changed, or a category of it. */
export type EventUpdated = Message<"event.updated", UpdatedEvent>;

export interface PublishedEvent extends UpdatedEvent {
  published_at: string;
}

/** An event was published, and is open for scans. */
export type EventPublished = Message<"event.published", PublishedEvent>;

export interface EndedEvent {
  event_id: string;
  ended_at: string;
}

/** An event has ended. */
export type EventEnded = Message<"event.ended", EndedEvent>;

export interface DeletedEvent {
  event_id: string;
  deleted_at: string;
}

/** A draft was deleted. */
export type EventDeleted = Message<"event.deleted", DeletedEvent>;

const updatedCategory = shape<UpdatedCategory>({
  id: text,
  name: text,
  tier: text,
  price: amount,
  currency: text,
  quantity_total: integer,
  valid_from: or(maybe(moment), null),
  valid_until: or(maybe(moment), null),
  gates: or(maybe(list(text)), null),
});
const UPDATED: { [Name in keyof UpdatedEvent]: Reader<UpdatedEvent[Name]> } = {
  event_id: text,
  status: text,
  title: text,
  description: maybe(text),
  venue: maybe(text),
  city: maybe(text),
  country: maybe(text),
  time_zone: text,
  starts_at: moment,
  ends_at: moment,
  ticket_categories: list(updatedCategory),
  updated_at: moment,
  codes: or(text, "any"),
  doors_open_at: or(maybe(moment), null),
  offline: or(text, "manifest"),
};

export const eventCancelled = message<"event.cancelled", CancelledEvent>(
  shape({ event_id: text, cancelled_at: moment, reason: maybe(text) }),
);
export const eventUpdated = message<"event.updated", UpdatedEvent>(shape(UPDATED));
export const eventPublished = message<"event.published", PublishedEvent>(shape({ ...UPDATED, published_at: moment }));
export const eventEnded = message<"event.ended", EndedEvent>(shape({ event_id: text, ended_at: moment }));
export const eventDeleted = message<"event.deleted", DeletedEvent>(shape({ event_id: text, deleted_at: moment }));
