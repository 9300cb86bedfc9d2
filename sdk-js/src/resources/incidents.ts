/** Incidents: where somebody was let in against the record. */

import { path } from "../arguments.js";
import { dataAs } from "../decode.js";
import type { Exchange } from "../http/exchange.js";
import { type PageOptions, Pages } from "../http/pages.js";
import { type Incident, incident } from "../models/incident.js";

export interface IncidentFilter extends PageOptions {
  event_id?: string | null | undefined;
  kind?: string | null | undefined;
  open?: boolean | null | undefined;
}

const ROOT = "/incidents";

/** The key needs the scope `tickets:read`. */
export class Incidents {
  readonly #exchange: Exchange;

  constructor(exchange: Exchange) {
    this.#exchange = exchange;
  }

  /** Incidents, newest first: of one event, of one kind, or only those that are open (or closed). */
  list(options: IncidentFilter = {}): Pages<Incident> {
    return new Pages(this.#exchange, ROOT, incident, options);
  }

  /** One incident, open or closed. */
  retrieve(incident_id: string): Promise<Incident> {
    return this.#exchange.ask({ method: "GET", path: path(ROOT, incident_id), read: dataAs(incident) });
  }
}
