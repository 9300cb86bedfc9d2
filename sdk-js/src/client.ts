/** The client. */

import { Exchange } from "./http/exchange.js";
import { Settings, type SettingsOptions } from "./http/settings.js";
import type { Fetch } from "./http/transport.js";
import { CardTokens } from "./resources/card_tokens.js";
import { Cards } from "./resources/cards.js";
import { Devices } from "./resources/devices.js";
import { Events } from "./resources/events.js";
import { Incidents } from "./resources/incidents.js";
import { Scans } from "./resources/scans.js";
import { TicketCategories } from "./resources/ticket_categories.js";
import { Tickets } from "./resources/tickets.js";
import { WebhookEndpoints } from "./resources/webhook_endpoints.js";
import { WebhookEvents } from "./resources/webhook_events.js";
import { Webhooks } from "./webhooks.js";

/** Deadlines are seconds in all, with every retry. */
export interface CallOptions {
  /** The seconds that a call may take. */
  deadline?: number | null | undefined;
  /** The seconds that a scan may take. */
  scan_deadline?: number | null | undefined;
  max_retries?: number | null | undefined;
}

export interface GatepassOptions extends SettingsOptions, CallOptions {
  /** A `fetch` of your own, for proxies, certificates or tests. */
  fetch?: Fetch | undefined;
}

/** Gatepass for one API key. Make one client and reuse it. */
export class Gatepass {
  readonly events: Events;
  readonly ticketCategories: TicketCategories;
  readonly cards: Cards;
  readonly cardTokens: CardTokens;
  readonly tickets: Tickets;
  readonly scans: Scans;
  readonly devices: Devices;
  readonly incidents: Incidents;
  readonly webhookEndpoints: WebhookEndpoints;
  readonly webhookEvents: WebhookEvents;
  readonly webhooks = new Webhooks();
  // Private, as the key is in them.
  readonly #options: GatepassOptions;
  readonly #settings: Settings;

  constructor(options: GatepassOptions = {}) {
    const { deadline, scan_deadline, max_retries, fetch } = options;
    this.#options = options;
    this.#settings = Settings.of(options);
    const exchange = new Exchange(this.#settings, fetch).withPolicy({ deadline, scan_deadline, max_retries });
    this.events = new Events(exchange);
    this.ticketCategories = new TicketCategories(exchange);
    this.cards = new Cards(exchange);
    this.cardTokens = new CardTokens(exchange);
    this.tickets = new Tickets(exchange);
    this.scans = new Scans(exchange);
    this.devices = new Devices(exchange);
    this.incidents = new Incidents(exchange);
    this.webhookEndpoints = new WebhookEndpoints(exchange);
    this.webhookEvents = new WebhookEvents(exchange);
  }

  /** Whether the key is a sandbox key. */
  get is_sandbox(): boolean {
    return this.#settings.is_sandbox;
  }

  get base_url(): string {
    return this.#settings.base_url;
  }

  /** The same client with other deadlines and retries. */
  withOptions({ deadline, scan_deadline, max_retries }: CallOptions): Gatepass {
    const options = this.#options;
    return new Gatepass({
      ...options,
      deadline: deadline ?? options.deadline,
      scan_deadline: scan_deadline ?? options.scan_deadline,
      max_retries: max_retries ?? options.max_retries,
    });
  }
}
