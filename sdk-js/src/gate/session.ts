/** A paired device at work: its scans, its heartbeats, its uploads, and what ends it. */

import {
  APIConnectionError,
  APIStatusError,
  DeviceRevoked,
  PermissionDenied,
  ServerError,
} from "../errors.js";
import { Settings } from "../http/settings.js";
import type { Fetch } from "../http/transport.js";
import { GateCalls, type Pulse } from "./calls.js";
import { type Code, readCode } from "./decision/code.js";
import { Connection } from "./connection.js";
import { type Device, type KnownDevice, RETIRED, REVOKED } from "./device.js";
import { Echoes } from "./echo.js";
import { ManifestKeeper } from "./manifest/keeper.js";
import { API_PATH } from "./pairing/pairing.js";
import { Scanner } from "./scanner.js";
import { Shown } from "./shown.js";
import type { GateStore } from "./storage/store.js";
import { Turns } from "./turns.js";
import { isTemporary, NOTHING_UPLOADED, Uploader, type Uploaded } from "./uploader.js";

// The service stores an offset at most every 5 s, and a second is the delay of two answers. Milliseconds.
const CLOCKS_AGREE = 3_000;

export class Session {
  device: Device;
  readonly connection = new Connection();
  readonly manifests: ManifestKeeper;
  readonly #store: GateStore;
  readonly #calls: GateCalls;
  readonly #scanner: Scanner;
  readonly #uploader: Uploader;
  readonly #echoes = new Echoes();
  readonly #uploads = new Turns();
  // Whether the service knows the offset of the clock with which the waiting entries were made.
  #offset_is_known = false;
  #is_over = false;

  private constructor(store: GateStore, device: Device, calls: GateCalls, manifests: ManifestKeeper) {
    const { journal, clock, device_key: key } = store;
    this.device = device;
    this.manifests = manifests;
    this.#store = store;
    this.#calls = calls;
    this.#scanner = new Scanner({ key, journal, calls, connection: this.connection, manifests, clock });
    this.#uploader = new Uploader(journal, calls, clock, { key, device_id: device.id });
  }

  static async open(store: GateStore, device: Device, fetch: Fetch): Promise<Session> {
    const { api_key, allow_http } = device;
    const calls = new GateCalls(Settings.of({ api_key, base_url: device.url + API_PATH, allow_http }), fetch);
    const manifests = await ManifestKeeper.open(store.manifest, calls, store.clock);
    // It was kept by a device that has ended, or been paired for another event since.
    const is_of_use = device.admits && manifests.current?.header.event.id === device.event_id;
    if (manifests.current !== null && !is_of_use) await manifests.forget();
    return new Session(store, device, calls, manifests);
  }

  /** The device was paired again: what an answer to the old key says is not kept any more. */
  end(): void {
    this.#is_over = true;
  }

  async scan(shown: string, reader: string): Promise<Shown> {
    const code = readCode(shown);
    if (code === null) return Shown.of("unreadable");
    const echo = this.#echoes.answer(reader, code.echo);
    if (echo !== null) return echo;
    const device = this.device;
    let answer = await this.#judge(code, device);
    if (device.admits && (answer.verdict === "event_not_found" || answer.verdict === "device_ended")) {
      // The device may have been moved to another event or gate a moment ago.
      await this.learn();
      if (this.device.admits && !this.device.equals(device)) answer = await this.#judge(code, this.device);
    }
    this.#echoes.remember(reader, code.echo, answer);
    return answer;
  }

  async #judge(code: Code, device: Device): Promise<Shown> {
    if (!device.admits) return Shown.of("device_ended");
    const card = await this.#store.sealer.mark(device.event_id, code.number);
    try {
      return await this.#scanner.scan(code, card, device);
    } catch (error) {
      if (error instanceof DeviceRevoked || error instanceof PermissionDenied) return Shown.of("device_ended");
      throw error;
    }
  }

  /** Measure the clock, and take over what the service says about this device. */
  async heartbeat(): Promise<void> {
    const { clock, journal } = this.#store;
    const began = clock.now();
    const is_offline = this.connection.offline_since !== null;
    let pulse: Pulse;
    try {
      pulse = await this.#ending(() => this.#calls.heartbeat(began, journal.countWaiting(), is_offline));
    } catch (error) {
      if (error instanceof APIConnectionError || error instanceof ServerError) this.connection.failed(clock.now(), error);
      else if (error instanceof APIStatusError) this.connection.works();
      throw error;
    }
    this.connection.works();
    this.#scanner.answer_within = pulse.answer_within;
    const offset = began + (clock.now() - began) / 2 - pulse.now;
    this.#offset_is_known = Math.abs((pulse.measured_ms ?? 0) - offset) <= CLOCKS_AGREE;
    if (journal.countWaiting() === 0 && clock.corrected(offset)) {
      await this.#store.keepClock();
      this.#offset_is_known = false;
    }
    const { status, ...known } = pulse.device;
    // Only pairing again begins anew what has ended.
    await this.#take(this.device.moved(this.device.admits ? { ...known, status: status ?? null } : known));
  }

  /** The service corrects the times of entries by the offset that it measured: it must know the present one. */
  upload(): Promise<Uploaded> {
    return this.#uploads.take(async () => {
      if (!this.#offset_is_known) {
        try {
          await this.heartbeat();
        } catch (error) {
          if (!isTemporary(error)) throw error;
          return { ...NOTHING_UPLOADED, waiting: this.#store.journal.countWaiting(), stopped_by: error };
        }
        if (!this.#offset_is_known) return { ...NOTHING_UPLOADED, waiting: this.#store.journal.countWaiting() };
      }
      return this.#ending(() => this.#uploader.run());
    });
  }

  refresh(): Promise<boolean> {
    return this.#ending(() => this.manifests.refresh(this.device.event_id));
  }

  /** Until the stream ends, or the device works for another event. A network that is down is no error. */
  async follow(signal: AbortSignal): Promise<void> {
    const works_for = (event_id: string): boolean => this.device.admits && this.device.event_id === event_id;
    try {
      await this.manifests.follow(this.device.event_id, signal, works_for);
    } catch (error) {
      if (signal.aborted) return;
      // A stream may break where other calls get through, and a device may have been moved or ended: a heartbeat tells.
      if (!(error instanceof APIConnectionError || error instanceof APIStatusError)) throw error;
      await this.learn();
    }
  }

  async retire(): Promise<void> {
    await this.#take(this.device.moved({ status: RETIRED }));
  }

  /** Ask what became of this device. Without an answer nothing is known. */
  async learn(): Promise<void> {
    try {
      await this.heartbeat();
    } catch (error) {
      if (!(error instanceof APIConnectionError || error instanceof APIStatusError)) throw error;
    }
  }

  async #take(device: Device): Promise<void> {
    const before = this.device;
    if (this.#is_over || device.equals(before)) return;
    this.device = device;
    if (device.event_id !== before.event_id || !device.admits) await this.manifests.forget();
    await this.#store.keepDevice(device);
  }

  /** Two words of the service end the device: that it was revoked, or that its key is left only the upload. */
  async #ending<T>(call: () => Promise<T>): Promise<T> {
    try {
      return await call();
    } catch (error) {
      if (error instanceof DeviceRevoked) await this.#end(REVOKED);
      else if (error instanceof PermissionDenied && error.code === "insufficient_scope" && this.device.admits) {
        await this.#end(RETIRED);
      }
      throw error;
    }
  }

  #end(status: NonNullable<KnownDevice["status"]>): Promise<void> {
    return this.#take(this.device.moved({ status }));
  }
}
