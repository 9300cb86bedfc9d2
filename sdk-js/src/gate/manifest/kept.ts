/** The manifest in the storage of the gate, sealed: the whole one as it came, then each change behind it. */

import { GateError } from "../../errors.js";
import { own } from "../bytes.js";
import type { Sealer } from "../storage/encryption.js";
import type { Places } from "../storage/places.js";

/** Public keys of the organization: those that are good now, and those that signed a part that is kept. */
export interface TrustedKeys {
  now: string[];
  ever: string[];
}

const TRUSTED = "manifest keys";
const NOBODY: TrustedKeys = { now: [], ever: [] };

export class KeptManifest {
  readonly #places: Places;
  readonly #sealer: Sealer;

  constructor(places: Places, sealer: Sealer) {
    this.#places = places;
    this.#sealer = sealer;
  }

  /** Up to the first that is damaged or missing: without it those behind it do not fit. */
  async parts(): Promise<Uint8Array[]> {
    const opened: Uint8Array[] = [];
    for (const [n, sealed] of (await this.#places.read((place) => place.manifest())).entries()) {
      try {
        opened.push(await this.#sealer.opened(sealed, `manifest ${n}`));
      } catch (error) {
        if (!(error instanceof GateError)) throw error;
        break;
      }
    }
    return opened;
  }

  /** In place of this part and all behind it. Part 0 is a whole manifest. */
  async keep(part: number, body: Uint8Array): Promise<void> {
    const sealed = await this.#sealer.seal(own(body), `manifest ${part}`);
    await this.#write({ from: part, parts: [sealed] });
  }

  async forget(): Promise<void> {
    await this.#write({ from: 0, parts: [] });
  }

  async trusted(): Promise<TrustedKeys> {
    const sealed = this.#places.setting(TRUSTED) as Uint8Array | null;
    return sealed === null ? NOBODY : ((await this.#sealer.openedJson(sealed, TRUSTED)) as TrustedKeys);
  }

  async trust(keys: TrustedKeys): Promise<void> {
    if (JSON.stringify(keys) === JSON.stringify(await this.trusted())) return;
    const sealed = await this.#sealer.sealJson(keys, TRUSTED);
    await this.#places.turn(() => this.#places.write({ settings: { [TRUSTED]: sealed } }));
  }

  /** It can be fetched again, so that nobody waits for the disk. */
  async #write(manifest: { from: number; parts: Uint8Array<ArrayBuffer>[] }): Promise<void> {
    await this.#places.turn(() => this.#places.write({ manifest }, { relaxed: manifest.parts.length > 0 }));
  }
}
