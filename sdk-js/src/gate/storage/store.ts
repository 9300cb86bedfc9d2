/** What a gate keeps: its two places, the keys that seal them, the device, the clock, and a lock for one tab. */

import { GateClock } from "../clock.js";
import { Device } from "../device.js";
import { KeptManifest } from "../manifest/kept.js";
import { DeviceKey } from "../signing.js";
import { createKeys, type GateKeys, Sealer } from "./encryption.js";
import { Journal } from "./journal.js";
import { lock } from "./lock.js";
import { DEVICE, KEYS } from "./merge.js";
import { Places } from "./places.js";
import { type PlaceFactories, sourcesOf } from "./sources.js";

const CLOCK = "clock";

export class GateStore {
  readonly places: Places;
  readonly sealer: Sealer;
  readonly journal: Journal;
  readonly manifest: KeptManifest;
  readonly device_key: DeviceKey;
  readonly clock: GateClock;
  readonly #release: () => void;

  private constructor(places: Places, keys: GateKeys, system: () => number, release: () => void) {
    this.places = places;
    this.sealer = new Sealer(keys);
    this.journal = new Journal(places, this.sealer);
    this.manifest = new KeptManifest(places, this.sealer);
    this.device_key = new DeviceKey(keys);
    const kept = places.setting(CLOCK) as { correction_ms: number } | null;
    this.clock = new GateClock(system, kept?.correction_ms ?? 0);
    this.#release = release;
  }

  /** Throws `GateInUse` if another tab has it. */
  static async open(name: string, system: () => number, factories?: PlaceFactories): Promise<GateStore> {
    const release = await lock(`gatepass gate ${name}`);
    let places: Places | undefined;
    try {
      places = await Places.open(sourcesOf(name, factories));
      return new GateStore(places, await keysOf(places), system, release);
    } catch (error) {
      places?.close();
      release();
      throw error;
    }
  }

  async device(): Promise<Device | null> {
    const sealed = this.places.setting(DEVICE) as Uint8Array | null;
    if (sealed === null) return null;
    return new Device((await this.sealer.openedJson(sealed, DEVICE)) as ReturnType<Device["toKept"]>);
  }

  async keepDevice(device: Device): Promise<void> {
    await this.#keep(DEVICE, await this.sealer.sealJson(device.toKept(), DEVICE));
  }

  keepClock(): Promise<void> {
    return this.#keep(CLOCK, { correction_ms: this.clock.correction });
  }

  close(): void {
    this.places.close();
    this.#release();
  }

  #keep(name: string, value: unknown): Promise<void> {
    return this.places.turn(() => this.places.write({ settings: { [name]: value } }));
  }
}

/** Made once. A device that is paired again with the same key goes on with its journal. */
async function keysOf(places: Places): Promise<GateKeys> {
  const kept = places.setting(KEYS) as GateKeys | null;
  if (kept !== null) return kept;
  const made = await createKeys();
  await places.turn(() => places.write({ settings: { [KEYS]: made } }));
  return made;
}
