/** Devices at the gates: listed, moved, ended; and the heartbeat that each sends. */

import { path, type Time, withoutNone } from "../arguments.js";
import { dataAs } from "../decode.js";
import type { Exchange } from "../http/exchange.js";
import { type PageOptions, Pages } from "../http/pages.js";
import { type Device, device, type Heartbeat, heartbeat } from "../models/device.js";

export interface DeviceFilter extends PageOptions {
  event_id?: string | null | undefined;
  status?: Device["status"] | null | undefined;
}

export interface DeviceChanges {
  name?: string | null | undefined;
  event_id?: string | null | undefined;
  gate?: string | null | undefined;
}

const ROOT = "/devices";
const read = dataAs(device);

/** The key needs the scope `admin`. Devices are paired in the studio; `heartbeat` is for the key of a device. */
export class Devices {
  readonly #exchange: Exchange;

  constructor(exchange: Exchange) {
    this.#exchange = exchange;
  }

  /** Devices, the last paired first: of an event, or with this status, if you name one. */
  list(options: DeviceFilter = {}): Pages<Device> {
    return new Pages(this.#exchange, ROOT, device, options);
  }

  retrieve(device_id: string): Promise<Device> {
    return this.#exchange.ask({ method: "GET", path: path(ROOT, device_id), read });
  }

  /** Rename it, or move it to another event or gate: it works for them from its next scan on. */
  update(device_id: string, fields: DeviceChanges): Promise<Device> {
    return this.#exchange.ask({ method: "PATCH", path: path(ROOT, device_id), read, body: withoutNone(fields) });
  }

  /** It scans no more, and may upload what its journal still holds, for 72 hours. */
  retire(device_id: string): Promise<Device> {
    return this.#exchange.ask({ method: "POST", path: path(ROOT, device_id, "retire"), read });
  }

  /** For one that is lost or stolen: its very next request is refused. */
  revoke(device_id: string): Promise<Device> {
    return this.#exchange.ask({ method: "POST", path: path(ROOT, device_id, "revoke"), read });
  }

  /** For the key of a device: tell its time and how many scans wait, and learn what it works for. */
  heartbeat(fields: { at: Time; queued: number; app?: string | null | undefined }): Promise<Heartbeat> {
    const body = withoutNone(fields);
    return this.#exchange.ask({ method: "POST", path: `${ROOT}/heartbeat`, read: dataAs(heartbeat), body });
  }
}
