/**
 * The errors. `message` is a sentence that can be shown to the person at the gate.
 *
 *     GatepassError
 *     ├── ConfigurationError          no key, no base URL, a key that cannot be one
 *     ├── APIConnectionError          the service was not reached, or the answer was not from it
 *     │   └── APITimeoutError         the deadline passed
 *     ├── APIStatusError              the service answered, and refused: a class for each status, and for some codes
 *     ├── QueueError                  a queue cannot be used
 *     │   └── QueueInUse              somebody else drains it
 *     ├── GateError                   a gate cannot be used, or is not paired
 *     │   ├── GateInUse               another tab or process has it
 *     │   └── PairingEnded            the code is wrong, used or too old
 *     └── WebhookVerificationError    a message that must not be trusted
 *
 * The sandbox answers used, expired and revoked test cards with 400 and the code that the live service has, so the class
 * follows the code: `error instanceof AlreadyUsed` works in both.
 */

/** Everything that this library throws, except for arguments that cannot be right. */
export class GatepassError extends Error {
  // Written out in each class, because a minifier renames classes.
  override name = "GatepassError";
  /** The key of the failed call. Sent again with it, a call that did succeed gets its first answer. */
  idempotency_key: string | null = null;
  /** True if the service may have done it although this call failed, because the answer was lost. */
  outcome_unknown = false;
}

/** The client cannot be made with these settings. */
export class ConfigurationError extends GatepassError {
  override name = "ConfigurationError";
}

/** No answer from the service: it was not reached, or something else answered. */
export class APIConnectionError extends GatepassError {
  override name = "APIConnectionError";
}

/** No answer before the deadline. */
export class APITimeoutError extends APIConnectionError {
  override name = "APITimeoutError";
}

/**
 * A `Gate` was answered by a service that does not know its key: of another cell, or on another database. It goes on as
 * without a network, and asks again. Only `DeviceRevoked` ends a device.
 */
export class DeviceUnknown extends APIConnectionError {
  override name = "DeviceUnknown";
}

export interface Refusal {
  status: number;
  code: string | null;
  request_id?: string | null;
  param?: string | null;
  details?: Readonly<Record<string, unknown>> | null;
  retry_after?: number | null;
  replayed?: boolean;
}

/** The service answered, and refused. */
export class APIStatusError extends GatepassError {
  override name = "APIStatusError";
  readonly status: number;
  readonly code: string | null;
  readonly request_id: string | null;
  /** The field of the request that is not valid. */
  readonly param: string | null;
  readonly details: Readonly<Record<string, unknown>>;
  /** Seconds. */
  readonly retry_after: number | null;
  /** True if an earlier try of this call was refused, and this is that answer. */
  readonly replayed: boolean;

  constructor(message: string, refusal: Refusal) {
    super(message);
    this.status = refusal.status;
    this.code = refusal.code;
    this.request_id = refusal.request_id ?? null;
    this.param = refusal.param ?? null;
    this.details = refusal.details ?? {};
    this.retry_after = refusal.retry_after ?? null;
    this.replayed = refusal.replayed ?? false;
  }

  override toString(): string {
    const named = [this.status, this.code, this.request_id].filter(Boolean).join(" ");
    return `${this.name}: ${this.message} (${named})`;
  }
}

/** 400: the request is not valid; `param` names the field. */
export class BadRequest extends APIStatusError {
  override name = "BadRequest";
}

/** 401: the key is missing, wrong, revoked or expired. */
export class AuthenticationError extends APIStatusError {
  override name = "AuthenticationError";
}

/** 401: a person has revoked this device. */
export class DeviceRevoked extends AuthenticationError {
  override name = "DeviceRevoked";
}

/** 403: the key lacks the scope, or its organization is suspended (`code`: `organization_suspended`). */
export class PermissionDenied extends APIStatusError {
  override name = "PermissionDenied";
}

/** 404: no such event, card or ticket in this organization. */
export class NotFound extends APIStatusError {
  override name = "NotFound";
}

/** 409: not possible in the present state. */
export class Conflict extends APIStatusError {
  override name = "Conflict";
}

/** 409: the ticket was activated before; `details` says when, at which gate and by which scanner. */
export class AlreadyUsed extends Conflict {
  override name = "AlreadyUsed";
}

/** 409: the category has no place left. */
export class SoldOut extends Conflict {
  override name = "SoldOut";
}

/** 409: the card holds a ticket for the event already. */
export class CardHasTicket extends Conflict {
  override name = "CardHasTicket";
}

/** 409: the e-mail address has another card; `details` has its `card_id`. */
export class HolderHasCard extends Conflict {
  override name = "HolderHasCard";
}

/** 409: this external_id was used with other content. */
export class ExternalIdTaken extends Conflict {
  override name = "ExternalIdTaken";
}

/** 410: the card token has expired. */
export class Expired extends APIStatusError {
  override name = "Expired";
}

/** 412: the object is no longer the one that `if_match` names. Read it again. */
export class ChangedMeanwhile extends APIStatusError {
  override name = "ChangedMeanwhile";
}

/** 422: understood, and not allowed: the card or the event is not active, or the ticket was cancelled. */
export class ValidationError extends APIStatusError {
  override name = "ValidationError";
}

/** 422: the card is suspended. */
export class CardSuspended extends ValidationError {
  override name = "CardSuspended";
}

/** 422: the card was revoked, for good. */
export class CardRevoked extends ValidationError {
  override name = "CardRevoked";
}

/** 422: the event takes only codes that a phone made itself a moment ago. */
export class StaticCodeRefused extends ValidationError {
  override name = "StaticCodeRefused";
}

/** 422: the doors are not open yet; `details` has `doors_open_at`. */
export class DoorsClosed extends ValidationError {
  override name = "DoorsClosed";
}

/** 422: tickets of this category are not good at this time; `details` has `valid_from` and `valid_until`. */
export class OutsideWindow extends ValidationError {
  override name = "OutsideWindow";
}

/** 422: tickets of this category open other gates; `details` has their names, `gates`. */
export class WrongGate extends ValidationError {
  override name = "WrongGate";
}

/** 422: the ticket was cancelled. */
export class TicketWasCancelled extends ValidationError {
  override name = "TicketWasCancelled";
}

/**
 * 421: the key belongs to another cell of the service than the one that was reached. Node's fetch repeats a call that is
 * answered so, and often loses the answer: then it is an `APIConnectionError`.
 */
export class WrongCell extends APIStatusError {
  override name = "WrongCell";
}

/** 429: too many calls; `retry_after` says how many seconds to wait. */
export class RateLimited extends APIStatusError {
  override name = "RateLimited";
}

/** 5xx: a fault or an overload of the service. */
export class ServerError extends APIStatusError {
  override name = "ServerError";
}

/** A `ScanQueue` cannot be used. Scans that were added before are still in it. */
export class QueueError extends GatepassError {
  override name = "QueueError";
}

/** Somebody else drains or reads the queue; only one may at a time. */
export class QueueInUse extends QueueError {
  override name = "QueueInUse";
}

/** The store of a `Gate` cannot be used, or its device is not paired. What it keeps is still there. */
export class GateError extends GatepassError {
  override name = "GateError";
}

/** Another tab or process works with this gate; only one may at a time. */
export class GateInUse extends GateError {
  override name = "GateInUse";
}

/** The code is wrong, used or too old, or the pairing was refused. Ask for another code. */
export class PairingEnded extends GateError {
  override name = "PairingEnded";
}

/** A webhook message that must not be trusted. */
export class WebhookVerificationError extends GatepassError {
  override name = "WebhookVerificationError";
}

type StatusErrorClass = new (message: string, refusal: Refusal) => APIStatusError;

const BY_CODE: Readonly<Record<string, StatusErrorClass>> = {
  already_activated: AlreadyUsed,
  device_revoked: DeviceRevoked,
  sold_out: SoldOut,
  card_has_ticket: CardHasTicket,
  holder_has_card: HolderHasCard,
  external_id_taken: ExternalIdTaken,
  expired: Expired,
  changed_meanwhile: ChangedMeanwhile,
  card_suspended: CardSuspended,
  card_revoked: CardRevoked,
  static_code_refused: StaticCodeRefused,
  doors_closed: DoorsClosed,
  outside_window: OutsideWindow,
  wrong_gate: WrongGate,
  ticket_cancelled: TicketWasCancelled,
};
const BY_STATUS: Readonly<Record<number, StatusErrorClass>> = {
  400: BadRequest,
  401: AuthenticationError,
  403: PermissionDenied,
  404: NotFound,
  409: Conflict,
  410: Expired,
  412: ChangedMeanwhile,
  421: WrongCell,
  422: ValidationError,
  429: RateLimited,
};

/** The error class: by the code, else by the status. */
export function classOf(status: number, code: string | null): StatusErrorClass {
  if (code !== null && Object.hasOwn(BY_CODE, code)) return BY_CODE[code] as StatusErrorClass;
  return status >= 500 ? ServerError : (BY_STATUS[status] ?? APIStatusError);
}
