/**
 * Gatepass for JavaScript.
 *
 *     import { Gatepass, SANDBOX_EVENT_ID } from "@gatepass/sdk";
 *
 *     const client = new Gatepass(); // GATEPASS_API_KEY and GATEPASS_BASE_URL
 *     const ticket = await client.scans.create(SANDBOX_EVENT_ID, { card_number: "TEST_VALID", gate: "North 2" });
 */

/** The fictional event of the sandbox, for the test cards. */
export const SANDBOX_EVENT_ID = "00000000-0000-0000-0000-00000000e7e7";

export type { Time } from "./arguments.js";
export { type CallOptions, Gatepass, type GatepassOptions } from "./client.js";
export * from "./errors.js";
export { type Page, type PageOptions, Pages } from "./http/pages.js";
export type { Fetch } from "./http/transport.js";
export type * from "./messages.js";
export type * from "./models.js";
export type { CardFilter, NewCard } from "./resources/cards.js";
export type { DeviceChanges, DeviceFilter } from "./resources/devices.js";
export type { EventChanges, NewEvent } from "./resources/events.js";
export type { IncidentFilter } from "./resources/incidents.js";
export type { HolderDetails } from "./resources/options.js";
export type { NewScan, ScanFilter } from "./resources/scans.js";
export type { NewTicketCategory, TicketCategoryChanges } from "./resources/ticket_categories.js";
export type { NewTicket, TicketFilter } from "./resources/tickets.js";
export type {
  DeliveryFilter,
  NewWebhookEndpoint,
  ReplaySelection,
  WebhookEndpointChanges,
} from "./resources/webhook_endpoints.js";
export { CardKeys, type TokenReading } from "./tokens.js";
export { VERSION } from "./version.js";
