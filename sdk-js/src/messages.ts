/** Webhook messages: a type for each, told apart by `type`. One that this version does not know is an `OtherEvent`. */

import { isObject } from "./http/call.js";
import {
  type CardIssued,
  type CardReplaced,
  type CardStatusChanged,
  type CardUpdated,
  cardIssued,
  cardReplaced,
  cardStatusChanged,
  cardUpdated,
} from "./messages/cards.js";
import {
  type EventCancelled,
  type EventDeleted,
  type EventEnded,
  type EventPublished,
  type EventUpdated,
  eventCancelled,
  eventDeleted,
  eventEnded,
  eventPublished,
  eventUpdated,
} from "./messages/events.js";
import { type OtherEvent, otherEvent } from "./messages/message.js";
import {
  type ScanConflict,
  type ScanDenied,
  scanConflict,
  scanDenied,
  type TicketActivated,
  type TicketActivationUndone,
  type TicketCancelled,
  type TicketIssued,
  type TicketTransferred,
  ticketActivated,
  ticketActivationUndone,
  ticketCancelled,
  ticketIssued,
  ticketTransferred,
} from "./messages/tickets.js";

export type KnownEvent =
  | TicketActivated
  | TicketCancelled
  | TicketIssued
  | TicketTransferred
  | TicketActivationUndone
  | EventCancelled
  | EventPublished
  | EventUpdated
  | EventEnded
  | EventDeleted
  | CardStatusChanged
  | CardIssued
  | CardReplaced
  | CardUpdated
  | ScanConflict
  | ScanDenied;

export type WebhookEvent = KnownEvent | OtherEvent;

const KINDS: { [Type in KnownEvent["type"]]: (value: unknown) => Extract<KnownEvent, { type: Type }> } = {
  "ticket.activated": ticketActivated,
  "ticket.cancelled": ticketCancelled,
  "ticket.issued": ticketIssued,
  "ticket.transferred": ticketTransferred,
  "ticket.activation_undone": ticketActivationUndone,
  "event.cancelled": eventCancelled,
  "event.published": eventPublished,
  "event.updated": eventUpdated,
  "event.ended": eventEnded,
  "event.deleted": eventDeleted,
  "card.status_changed": cardStatusChanged,
  "card.issued": cardIssued,
  "card.replaced": cardReplaced,
  "card.updated": cardUpdated,
  "scan.conflict": scanConflict,
  "scan.denied": scanDenied,
};

/** The message in this JSON object. */
export function eventOf(value: unknown): WebhookEvent {
  const type = isObject(value) ? value["type"] : undefined;
  return isKnown(type) ? KINDS[type](value) : otherEvent(value);
}

function isKnown(type: unknown): type is KnownEvent["type"] {
  return typeof type === "string" && Object.hasOwn(KINDS, type);
}

export type * from "./messages/cards.js";
export type * from "./messages/events.js";
export type { Message, OtherEvent } from "./messages/message.js";
export type * from "./messages/tickets.js";
