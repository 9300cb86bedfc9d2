/**
 * Webhook messages: a class for each type, with its data. A type that this version does not know is an `OtherEvent`.
 *
 * `event instanceof TicketActivated` tells them apart; so does `event.type` among those that are no `OtherEvent`.
 */

import { isObject } from "./http/call.js";
import {
  CardIssued,
  CardReplaced,
  CardStatusChanged,
  CardUpdated,
  cardIssued,
  cardReplaced,
  cardStatusChanged,
  cardUpdated,
} from "./messages/cards.js";
import {
  EventCancelled,
  EventDeleted,
  EventEnded,
  EventPublished,
  EventUpdated,
  eventCancelled,
  eventDeleted,
  eventEnded,
  eventPublished,
  eventUpdated,
} from "./messages/events.js";
import { OtherEvent, otherEvent } from "./messages/message.js";
import {
  ScanConflict,
  ScanDenied,
  scanConflict,
  scanDenied,
  TicketActivated,
  TicketActivationUndone,
  TicketCancelled,
  TicketIssued,
  TicketTransferred,
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

export type { ChangedCardStatus, IssuedCard, ReplacedCard, UpdatedCard } from "./messages/cards.js";
export type {
  CancelledEvent,
  DeletedEvent,
  EndedEvent,
  PublishedEvent,
  UpdatedCategory,
  UpdatedEvent,
} from "./messages/events.js";
export { Message } from "./messages/message.js";
export type {
  ActivatedTicket,
  CancelledTicket,
  DeniedScan,
  IssuedTicket,
  TransferredTicket,
  UndoneActivation,
} from "./messages/tickets.js";
export {
  CardIssued,
  CardReplaced,
  CardStatusChanged,
  CardUpdated,
  EventCancelled,
  EventDeleted,
  EventEnded,
  EventPublished,
  EventUpdated,
  OtherEvent,
  ScanConflict,
  ScanDenied,
  TicketActivated,
  TicketActivationUndone,
  TicketCancelled,
  TicketIssued,
  TicketTransferred,
};
