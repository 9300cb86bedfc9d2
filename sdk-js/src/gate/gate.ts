/** One device of a venue. See `index.ts`. */

import { GateError } from "../errors.js";
import type { Fetch } from "../http/transport.js";
import { Device } from "./device.js";
import { type OnWords, PairingClient, rootOf } from "./pairing/pairing.js";
import { Session } from "./session.js";
import type { Shown } from "./shown.js";
import { type GateStatus, statusOf } from "./status.js";
import { askForPersistence, type PlaceFactories } from "./storage/sources.js";
import { GateStore } from "./storage/store.js";
import type { Uploaded } from "./uploader.js";
import { Work } from "./work.js";

export interface GateOptions {
  /** One browser can be several gates, one tab each. `gate` if it is not given. */
  name?: string;
  /** The machine's clock. */
  clock?: () => Date;
  fetch?: Fetch;
  /** Two factories of IndexedDB, where the browser's own are not wanted. */
  places?: PlaceFactories;
}

export interface PairingOptions {
  /** The address of the service, such as https://gatepass.example. */
  url: string;
  /** What people call this device: it is shown with each scan. */
  name: string;
  /** Gets the two words, to be shown: the studio shows the same two, and the person compares them. */
  on_words?: OnWords;
  /** Send the key in plain text to other machines: only where something else encrypts. */
  allow_http?: boolean;
  signal?: AbortSignal;
}

/**
 * One device in the storage of one browser, used by one tab at a time.
 *
 * The storage keeps no name and no address of a guest. Codes, card numbers, the manifest and the device's own API key
 * are encrypted under a key that the browser does not give away. Codes and numbers are deleted when the service has
 * acknowledged them. All is kept in two places, because a browser that is killed while it writes may lose one.
 */
export class Gate {
  readonly #store: GateStore;
  readonly #fetch: Fetch;
  readonly #work: Work;
  #session: Session | null;

  private constructor(store: GateStore, fetch: Fetch, session: Session | null) {
    this.#store = store;
    this.#fetch = fetch;
    this.#session = session;
    this.#work = new Work(store, () => this.#session);
  }

  /** Open the storage, or create it. Throws `GateInUse` if another tab works with it. */
  static async open(options: GateOptions = {}): Promise<Gate> {
    const { name = "gate", clock, places } = options;
    // Read at each call: a browser's fetch must be called without another object as `this`.
    const fetch = options.fetch ?? ((input, init) => globalThis.fetch(input, init));
    const store = await GateStore.open(name, clock === undefined ? Date.now : () => clock().getTime(), places);
    try {
      const device = await store.device();
      return new Gate(store, fetch, device && (await Session.open(store, device, fetch)));
    } catch (error) {
      store.close();
      throw error;
    }
  }

  /**
   * Pair this device with the code that the studio shows, and wait until a person has confirmed it.
   *
   * A device that was paired before keeps its own key and its journal. Throws `PairingEnded` if it is refused.
   */
  async pair(code: string, options: PairingOptions): Promise<Device> {
    const { url, name, on_words = null, allow_http = false, signal = new AbortController().signal } = options;
    askForPersistence();
    const { device_key, clock } = this.#store;
    const client = new PairingClient(rootOf(url, allow_http), device_key, clock, this.#fetch);
    const paired = await client.pair(code, name, on_words, signal);
    const device = Device.of(paired.device, { url: client.root, api_key: paired.api_key, allow_http });
    this.#session?.end();
    await this.#store.keepClock();
    await this.#store.keepDevice(device);
    this.#session = await Session.open(this.#store, device, this.#fetch);
    this.#work.tryNow();
    return device;
  }

  /** The device as it is paired; null before. */
  get device(): Device | null {
    return this.#session?.device ?? null;
  }

  /**
   * Judge what a reader read: a token, a phone's code, or a typed number. It takes a little over 1.5 s at most.
   *
   * The same code at the same `reader` within 3 s is an echo, and gets the same answer. Throws `QueueError` if the
   * storage cannot be written: then nobody was let in.
   */
  async scan(shown: string, options: { reader?: string } = {}): Promise<Shown> {
    return this.#paired.scan(shown, options.reader ?? "");
  }

  /** Tell the service that this gate lives; learn the time, the assignment, and whether it may still admit. */
  async heartbeat(): Promise<GateStatus> {
    await this.#paired.heartbeat();
    return this.status();
  }

  /** Fetch the manifest, or what changed in it, once. Whether anything did. */
  async refresh(): Promise<boolean> {
    return this.#paired.refresh();
  }

  /**
   * Upload what the device decided. With `again` also what the service has rejected before.
   *
   * If the network is down, the rest stays and `stopped_by` has the error.
   */
  async upload(options: { again?: boolean } = {}): Promise<Uploaded> {
    const session = this.#paired;
    if (options.again) await this.#store.journal.tryRejectedAgain();
    return session.upload();
  }

  /** Admit nobody any more: delete the manifest, and upload what waits. Only pairing again ends that. */
  async retire(): Promise<Uploaded> {
    await this.#paired.retire();
    return this.upload();
  }

  async status(): Promise<GateStatus> {
    return statusOf(this.#store, this.#session);
  }

  /**
   * Follow the manifest, send heartbeats and upload, until the signal or `close` ends it.
   *
   * A network that is down is no error: it is tried again, at once when the browser says that it is back, or when
   * somebody looks at the page again.
   */
  async work(signal: AbortSignal): Promise<void> {
    if (this.#paired) await this.#work.run(signal);
  }

  /** Close the storage. Everything stays in it. */
  close(): void {
    this.#work.end();
    this.#session?.end();
    this.#store.close();
  }

  get #paired(): Session {
    if (this.#session === null) {
      throw new GateError("This gate is not paired: call pair with the code that the studio shows.");
    }
    return this.#session;
  }
}
