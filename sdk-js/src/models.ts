/**
 * The answers of the service, as they are sent. Ids, enums such as `status`, and times (RFC 3339) are strings, prices are
 * numbers in major units. New fields never break a model: they are in the object too.
 */

export type { OneOf, Versioned } from "./decode.js";
export type { Card, CardLink, CardToken, CardTokenResult, CardVerification, Holder } from "./models/card.js";
export type { Device, DeviceEvent, DeviceSettings, Heartbeat } from "./models/device.js";
export type { Event, TicketCategory } from "./models/event.js";
export type { FirstAdmission, Incident } from "./models/incident.js";
export type { ItemResult } from "./models/item.js";
export type { JournalEntryResult, OpenedIncident, RecordedScan, ScanBatch, ScanResult } from "./models/scan.js";
export type { Ticket, TicketResult } from "./models/ticket.js";
export type { Delivery, DeliveryAttempt, DeliveryDetail, Replay, SecretRotation, WebhookEndpoint } from "./models/webhook.js";
