/**
 * The two places of a gate. Every write goes to both, and is done when both have it on the disk. A place that fails is
 * left behind and the other goes on; it is made again at the next start, or as soon as that works.
 */

import { QueueError } from "../../errors.js";
import type { Bytes } from "../bytes.js";
import { Turns } from "../turns.js";
import { KEYS, MANIFEST, type Merged, merge, NO_STATE, STATE, type State } from "./merge.js";
import { Late, within } from "./patience.js";
import type { Changes, Place, PlaceName, Setting } from "./place.js";
import { opened, type Source } from "./opening.js";
import type { StoredScan } from "./scan.js";
import { Waiting } from "./waiting.js";

/** What one write changes, in the words of the gate. */
export interface Write {
  scans?: readonly StoredScan[];
  forgotten?: readonly string[];
  settings?: Readonly<Record<string, unknown>>;
  manifest?: { from: number; parts: readonly Bytes[] };
  last_sequence?: number;
  last_n?: number;
}

// Seconds. A place that says nothing for so long, when the other one has answered, is left behind.
const PATIENCE = 4;
// When neither answers there is nothing to go on with. Somebody stands at the door.
const LONGEST = 15;

export class Places {
  /** A place that was found empty or torn, or that failed since. */
  lost: PlaceName | null = null;
  readonly #sources: readonly Source[];
  readonly #turns = new Turns();
  #open = new Map<PlaceName, Place>();
  #settings = new Map<string, Setting>();
  #state: State = NO_STATE;
  #waiting = Waiting.of([]);
  #problem: unknown = null;
  #is_closed = false;

  private constructor(sources: readonly Source[]) {
    this.#sources = sources;
  }

  static async open(sources: readonly Source[]): Promise<Places> {
    const places = new Places(sources);
    await places.#reopen();
    return places;
  }

  get state(): State {
    return this.#state;
  }

  get waiting(): number {
    return this.#waiting.size;
  }

  setting(name: string): unknown {
    return this.#settings.get(name)?.value ?? null;
  }

  /** One step after another: what it reads stays true until it has written. */
  turn<T>(step: () => Promise<T>): Promise<T> {
    return this.#turns.take(async () => {
      // Nothing was left: what was written last may be there or not, so all is read again.
      if (this.#open.size === 0) await this.#reopen();
      return step();
    });
  }

  /** Within a turn. When this returns, both places have it. Throws `QueueError` if none has. */
  async write(write: Write, options: { relaxed?: boolean } = {}): Promise<void> {
    const number = this.#state.writes + 1;
    const state: State = {
      writes: number,
      last_n: write.last_n ?? this.#state.last_n,
      last_sequence: write.last_sequence ?? this.#state.last_sequence,
    };
    const values: Record<string, unknown> = { ...write.settings, [STATE]: state };
    if (write.manifest) values[MANIFEST] = null;
    const settings = Object.fromEntries(
      Object.entries(values).map(([name, value]) => [name, { value, changed: number }]),
    );
    const { scans = [], forgotten = [], manifest } = write;
    const changes: Changes = { scans: scans.map((scan) => ({ ...scan, changed: number })), forgotten, settings };
    await this.#writeAll({ ...changes, ...(manifest && { manifest }), relaxed: options.relaxed ?? false });
    this.#state = state;
    for (const [name, setting] of Object.entries(settings)) this.#settings.set(name, setting);
    for (const scan of scans) this.#waiting.note(scan);
  }

  /** Outside of a turn. */
  async read<T>(reading: (place: Place) => Promise<T>): Promise<T> {
    return this.#open.size === 0 ? this.turn(() => this.readInTurn(reading)) : this.readInTurn(reading);
  }

  /** From the first place that answers. */
  async readInTurn<T>(reading: (place: Place) => Promise<T>): Promise<T> {
    const places = [...this.#open.values()];
    for (const [n, place] of places.entries()) {
      try {
        return await within(n < places.length - 1 ? PATIENCE : LONGEST, reading(place));
      } catch (error) {
        this.#leave(place, error);
      }
    }
    throw this.#unusable();
  }

  /** Open the places again that failed. Whether both are there now. */
  async restore(): Promise<boolean> {
    if (this.#open.size < this.#sources.length) await this.#turns.take(() => this.#reopen());
    return this.#open.size === this.#sources.length;
  }

  close(): void {
    this.#is_closed = true;
    for (const place of this.#open.values()) place.close();
    this.#open.clear();
  }

  /** A place is waited for as long as there is hope, and only a little longer than for the other. */
  async #writeAll(changes: Changes): Promise<void> {
    const places = [...this.#open.values()];
    if (places.length === 0) throw this.#unusable();
    const writes = places.map((place) => place.write(changes));
    const first = Promise.any(writes);
    await Promise.all(
      writes.map(async (write, n) => {
        try {
          await within(LONGEST, Promise.race([write, first.then(() => within(PATIENCE, write))]));
        } catch (error) {
          this.#leave(places[n]!, error);
        }
      }),
    );
    if (this.#open.size === 0) throw this.#unusable();
  }

  #leave(place: Place, problem: unknown): void {
    place.close();
    if (this.#open.get(place.name) !== place) return;
    this.#open.delete(place.name);
    this.#problem = problem;
    if (!this.#is_closed) this.lost = place.name;
  }

  async #reopen(): Promise<void> {
    if (this.#is_closed) throw new QueueError("This gate is closed.");
    const found = await opened(this.#sources, this.#open);
    this.#open = new Map(found.flatMap(({ place }) => (place === null ? [] : [[place.name, place]])));
    this.#problem = found.find(({ problem }) => problem !== null)?.problem ?? null;
    const merged = merge(found[0]?.contents ?? null, found[1]?.contents ?? null);
    const is_gate = merged.contents.settings.has(KEYS);
    // The gate may be in the place that does not answer. Beginning anew would make another device of it.
    if (!is_gate && this.#problem instanceof Late) throw this.#unusable();
    await this.#complete(merged);
    this.#settings = merged.contents.settings;
    this.#state = merged.state;
    this.#waiting = Waiting.of(merged.contents.scans.values());
    this.lost = found.find(({ was_torn }) => was_torn)?.name ?? merged.lost ?? this.lost;
  }

  /** Give each place what only the other has. */
  async #complete(merged: Merged): Promise<void> {
    const source = merged.manifest_of && this.#open.get(merged.manifest_of);
    const parts = source && (await within(LONGEST, source.manifest()));
    for (const place of [...this.#open.values()]) {
      const lacking = merged.lacking[place.name];
      const manifest = parts && place !== source ? { from: 0, parts } : null;
      if (lacking === null && manifest === null) continue;
      try {
        const padded = merged.lost === place.name;
        await within(LONGEST, place.write({ ...lacking, ...(manifest && { manifest }), padded }));
      } catch (error) {
        this.#leave(place, error);
      }
    }
    if (this.#open.size === 0) throw this.#unusable();
  }

  #unusable(): QueueError {
    const message = "The storage of this browser cannot be used. Nobody may be let in until it can.";
    return new QueueError(message, { cause: this.#problem });
  }
}
