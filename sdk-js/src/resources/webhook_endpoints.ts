/** Webhook endpoints, their deliveries, and replays. */

import { path, type Time, withoutNone } from "../arguments.js";
import { dataAs, nothing } from "../decode.js";
import type { Exchange } from "../http/exchange.js";
import { type PageOptions, Pages } from "../http/pages.js";
import {
  type Delivery,
  type DeliveryDetail,
  delivery,
  deliveryDetail,
  type Replay,
  replay,
  replayCount,
  type WebhookEndpoint,
  webhookEndpoint,
} from "../models/webhook.js";

export interface NewWebhookEndpoint {
  url: string;
  types: readonly string[];
  description?: string | null | undefined;
}

export interface WebhookEndpointChanges {
  url?: string | null | undefined;
  types?: readonly string[] | null | undefined;
  description?: string | null | undefined;
  /** `paused` holds messages back, `active` releases them. */
  status?: WebhookEndpoint["status"] | null | undefined;
}

export interface DeliveryFilter extends PageOptions {
  status?: Delivery["status"] | null | undefined;
  type?: string | null | undefined;
}

/** The deliveries of a time span. */
export interface ReplaySelection {
  since?: Time | null | undefined;
  until?: Time | null | undefined;
  types?: readonly string[] | null | undefined;
  statuses?: readonly string[] | null | undefined;
}

const ROOT = "/webhooks";
const read = dataAs(webhookEndpoint);

/** The key needs the scope `webhooks:read` to read, and `admin` to change. */
export class WebhookEndpoints {
  readonly #exchange: Exchange;

  constructor(exchange: Exchange) {
    this.#exchange = exchange;
  }

  /** Create an endpoint in the mode of the key. Only this answer has its `secret`: store it. */
  create(fields: NewWebhookEndpoint): Promise<WebhookEndpoint> {
    const body = withoutNone(fields);
    return this.#exchange.ask({ method: "POST", path: ROOT, read, body, repeatable: false });
  }

  /** Every endpoint in the mode of the key. */
  list(options: PageOptions = {}): Pages<WebhookEndpoint> {
    return new Pages(this.#exchange, ROOT, webhookEndpoint, options);
  }

  retrieve(endpoint_id: string): Promise<WebhookEndpoint> {
    return this.#exchange.ask({ method: "GET", path: path(ROOT, endpoint_id), read });
  }

  /** Change the given fields. */
  update(endpoint_id: string, fields: WebhookEndpointChanges): Promise<WebhookEndpoint> {
    return this.#exchange.ask({ method: "PATCH", path: path(ROOT, endpoint_id), read, body: withoutNone(fields) });
  }

  delete(endpoint_id: string): Promise<void> {
    const once = { read: nothing, repeatable: false };
    return this.#exchange.ask({ method: "DELETE", path: path(ROOT, endpoint_id), ...once });
  }

  /** Send a `webhook.ping` to this endpoint. */
  test(endpoint_id: string): Promise<Delivery> {
    const once = { read: dataAs(delivery), repeatable: false };
    return this.#exchange.ask({ method: "POST", path: path(ROOT, endpoint_id, "test"), ...once });
  }

  /** Issue a new secret beside the old one. With `switch` the new one signs `x-svc-signature` from now on. */
  rotateSecret(endpoint_id: string, options: { switch?: boolean } = {}): Promise<WebhookEndpoint> {
    const once = { read, body: { switch: options.switch ?? false }, repeatable: false };
    return this.#exchange.ask({ method: "POST", path: path(ROOT, endpoint_id, "rotate-secret"), ...once });
  }

  /** Deliveries to this endpoint, newest first. */
  deliveries(endpoint_id: string, options: DeliveryFilter = {}): Pages<Delivery> {
    return new Pages(this.#exchange, path(ROOT, endpoint_id, "deliveries"), delivery, options);
  }

  /** One delivery with all its attempts. */
  delivery(endpoint_id: string, delivery_id: string): Promise<DeliveryDetail> {
    const where = path(ROOT, endpoint_id, "deliveries", delivery_id);
    return this.#exchange.ask({ method: "GET", path: where, read: dataAs(deliveryDetail) });
  }

  /** Send the deliveries of this time span again, or this one delivery. */
  replay(
    endpoint_id: string,
    selection: ReplaySelection & { delivery_id?: string | null | undefined },
  ): Promise<Replay> {
    const once = { read: dataAs(replay), body: withoutNone(selection), repeatable: false };
    return this.#exchange.ask({ method: "POST", path: path(ROOT, endpoint_id, "replay"), ...once });
  }

  /** The number of deliveries that a replay would send. */
  async countReplay(endpoint_id: string, selection: ReplaySelection): Promise<number> {
    const body = { ...withoutNone(selection), dry_run: true };
    const where = path(ROOT, endpoint_id, "replay");
    const count = await this.#exchange.ask({ method: "POST", path: where, read: dataAs(replayCount), body });
    return count.total;
  }

  /** Replays of this endpoint, newest first. */
  replays(endpoint_id: string, options: PageOptions = {}): Pages<Replay> {
    return new Pages(this.#exchange, path(ROOT, endpoint_id, "replay"), replay, options);
  }
}
