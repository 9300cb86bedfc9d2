/** The device of a gate as the service knows it: its assignment, its API key, and whether it may still admit. */

export const PAIRED = "paired";
export const RETIRED = "retired";
export const REVOKED = "revoked";
// The service takes no longer one.
const LONGEST_SCANNER = 64;

/** What the service says of a device. Who paired it is left out: a gate keeps no names of people. */
export interface KnownDevice {
  id?: string | null;
  name?: string | null;
  event_id?: string | null;
  gate?: string | null;
  status?: string | null;
}

/** `status` is `paired`, `retired` (it only uploads) or `revoked` (nothing until it is paired again). */
export interface DeviceFields {
  readonly id: string;
  readonly name: string;
  readonly event_id: string;
  readonly gate: string;
  readonly status: string;
  readonly url: string;
  readonly allow_http: boolean;
}

export class Device implements DeviceFields {
  readonly id: string;
  readonly name: string;
  readonly event_id: string;
  readonly gate: string;
  readonly status: string;
  readonly url: string;
  readonly allow_http: boolean;
  // Private, so that it does not get into a log.
  readonly #api_key: string;

  constructor(fields: DeviceFields & { api_key: string }) {
    this.id = fields.id;
    this.name = fields.name;
    this.event_id = fields.event_id;
    this.gate = fields.gate;
    this.status = fields.status;
    this.url = fields.url;
    this.allow_http = fields.allow_http;
    this.#api_key = fields.api_key;
  }

  /** From the service's answer to a pairing. */
  static of(known: KnownDevice, address: { url: string; api_key: string; allow_http?: boolean }): Device {
    const { id, name, event_id, gate } = known;
    return new Device({
      id: String(id),
      name: String(name),
      event_id: String(event_id),
      gate: String(gate),
      status: PAIRED,
      url: address.url,
      allow_http: address.allow_http ?? false,
      api_key: address.api_key,
    });
  }

  get api_key(): string {
    return this.#api_key;
  }

  get admits(): boolean {
    return this.status === PAIRED;
  }

  get scanner_id(): string {
    // By characters, as the service counts them, not by the halves of one.
    return [...this.name].slice(0, LONGEST_SCANNER).join("");
  }

  /** With what the service says about it now. */
  moved(known: KnownDevice): Device {
    return new Device({
      ...this.toKept(),
      name: known.name || this.name,
      event_id: known.event_id || this.event_id,
      gate: known.gate || this.gate,
      status: known.status || this.status,
    });
  }

  equals(other: Device): boolean {
    return JSON.stringify(this.toKept()) === JSON.stringify(other.toKept());
  }

  /** Everything, with the API key: for the gate's own storage, where it is encrypted. */
  toKept(): DeviceFields & { api_key: string } {
    const { id, name, event_id, gate, status, url, allow_http } = this;
    return { id, name, event_id, gate, status, url, allow_http, api_key: this.#api_key };
  }
}
