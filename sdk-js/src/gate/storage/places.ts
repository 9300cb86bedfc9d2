/**
 * The two places of a gate. Every write goes to both, and is done when both have it on the disk. A place that fails is
 * left behind and the other goes on; it is made again at the next start, or as soon as that works.
 */

import { GateError, QueueError } from "../../errors.js";
import type { Bytes } from "../bytes.js";
import { MANIFEST, type Merged, merge, NO_STATE, STATE, type State } from "./merge.js";
import { type Changes, type Contents, Place, type PlaceName, type Setting } from "./place.js";
import type { StoredScan } from "./scan.js";

/** Where a place is. */
export interface Source {
  name: PlaceName;
  factory(): Promise<IDBFactory>;
  database: string;
}

/** What one write changes, in the words of the gate. */
export interface Write {
  scans?: readonly StoredScan[];
  forgotten?: readonly string[];
  settings?: Readonly<Record<string, unknown>>;
  manifest?: { from: number; parts: readonly Bytes[] };
  last_sequence?: number;
  last_n?: number;
}

// A disk that says nothing for so long is left behind; the other has answered in a hundredth of it. Milliseconds.
const PATIENCE = 5_000;

export class Places {
  /** A place that was found empty or torn, or that failed since. */
  lost: PlaceName | null = null;
  readonly #sources: readonly Source[];
  readonly #open = new Map<PlaceName, Place>();
  #settings = new Map<string, Setting>();
  #state: State = NO_STATE;
  #turn: Promise<unknown> = Promise.resolve();
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

  setting(name: string): unknown {
    return this.#settings.get(name)?.value ?? null;
  }

  /** One step after another: what it reads stays true until it has written. */
  turn<T>(step: () => Promise<T>): Promise<T> {
    const mine = this.#turn.then(step);
    this.#turn = mine.catch(() => undefined);
    return mine;
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
  }

  /** From the first place that answers. */
  async read<T>(reading: (place: Place) => Promise<T>): Promise<T> {
    for (const place of [...this.#open.values()]) {
      try {
        return await within(PATIENCE, reading(place));
      } catch (error) {
        this.#leave(place, error);
      }
    }
    throw unusable();
  }

  /** Open the places again that failed. Whether both are there now. */
  async restore(): Promise<boolean> {
    if (this.#open.size < this.#sources.length && !this.#is_closed) await this.turn(() => this.#reopen());
    return this.#open.size === this.#sources.length;
  }

  close(): void {
    this.#is_closed = true;
    for (const place of this.#open.values()) place.close();
    this.#open.clear();
  }

  async #writeAll(changes: Changes): Promise<void> {
    const places = [...this.#open.values()];
    const writes = places.map(async (place) => {
      try {
        await within(PATIENCE, place.write(changes));
      } catch (error) {
        this.#leave(place, error);
      }
    });
    await Promise.all(writes);
    if (this.#open.size === 0) throw unusable();
  }

  #leave(place: Place, _error: unknown): void {
    if (this.#open.get(place.name) !== place) return;
    this.#open.delete(place.name);
    this.lost = place.name;
    place.close();
  }

  async #reopen(): Promise<void> {
    const found = await Promise.all(this.#sources.map((source) => this.#found(source)));
    const [main, mirror] = found.map((one) => one?.contents ?? null) as [Contents | null, Contents | null];
    if (main === null && mirror === null) throw new GateError("The storage of this browser cannot be used.");
    const merged = merge(main, mirror);
    const lost = this.#sources.find((_, n) => found[n] === null || found[n]?.was_torn)?.name ?? merged.lost;
    await this.#complete(merged);
    this.#settings = merged.contents.settings;
    this.#state = merged.state;
    this.lost = lost ?? this.lost;
  }

  /** A place with what is in it. One that is torn is made again, empty; null if that is not possible either. */
  async #found(source: Source): Promise<{ contents: Contents; was_torn: boolean } | null> {
    for (const repair of [false, false, true]) {
      try {
        const contents = await within(PATIENCE, this.#contents(source, repair));
        return { contents, was_torn: repair };
      } catch (error) {
        this.#open.get(source.name)?.close();
        this.#open.delete(source.name);
        // One that only does not answer is not torn: what is in it may come back.
        if (error instanceof Late) return null;
      }
    }
    return null;
  }

  async #contents(source: Source, repair: boolean): Promise<Contents> {
    const known = this.#open.get(source.name);
    if (known !== undefined) return known.contents();
    const factory = await source.factory();
    if (repair) await Place.delete(factory, source.database);
    const place = await Place.open(source.name, factory, source.database);
    this.#open.set(source.name, place);
    return place.contents();
  }

  /** Give each place what only the other has. */
  async #complete(merged: Merged): Promise<void> {
    const parts = merged.manifest_of && (await this.#open.get(merged.manifest_of)?.manifest());
    for (const place of [...this.#open.values()]) {
      const lacking = merged.lacking[place.name];
      const manifest = parts && place.name !== merged.manifest_of ? { from: 0, parts } : null;
      if (lacking === null && manifest === null) continue;
      try {
        await within(PATIENCE, place.write({ ...lacking, ...(manifest && { manifest }) }));
      } catch (error) {
        this.#leave(place, error);
      }
    }
    if (this.#open.size === 0) throw unusable();
  }
}

class Late extends Error {}

function within<T>(milliseconds: number, result: Promise<T>): Promise<T> {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Late("The storage does not answer.")), milliseconds);
  });
  return Promise.race([result, late]).finally(() => clearTimeout(timer));
}

function unusable(): QueueError {
  return new QueueError("The storage of this browser cannot be written. Nobody may be let in until it can.");
}
